# SPDX-License-Identifier: Apache-2.0
"""A language model of two layers with random weights, in the format of llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["FORMATS", "write_model"]

FORMATS = ("F16", "Q8_0", "Q4_0")
"""Formats of the matrices, by the names that llama.cpp has for them."""

WORDS, WIDTH, INNER, LAYERS, HEADS, KEY_HEADS = 384, 64, 128, 2, 4, 2
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LETTERS = ["\u2581", *map(chr, range(ord("a"), ord("z") + 1))]
STEP = 7
UNKNOWN, CONTROL, BYTE, NORMAL = 2, 3, 6, 1  # kinds of tokens


def write_model(path: Path, form: str) -> None:
    """Write the model.

    Args:
        path: The new file.
        form: The format of its matrices, one of :data:`FORMATS`.
    """
    import gguf  # noqa: PLC0415  # only the session that runs these tests has it

    kind = gguf.GGMLQuantizationType[form]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(WORDS)
    _add_tokens(writer)
    for name, values in _weights():
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokens(writer: Any) -> None:
    tokens = ["<unk>", "<s>", "</s>", *BYTES, *LETTERS]
    known = len(tokens)
    tokens += [f"word{number}" for number in range(WORDS - known)]
    special = 3 + len(BYTES)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * special + [-float(n) for n in range(WORDS - special)])
    writer.add_token_types(
        [UNKNOWN, CONTROL, CONTROL] + [BYTE] * len(BYTES) + [NORMAL] * (WORDS - special)
    )
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


def _weights() -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The matrices and the norms.

    A token is followed by the one of which the output matrix has its embedding, unless the layers
    move it far: rounding chooses no other one.
    """
    random = np.random.default_rng(7)
    keys = WIDTH * KEY_HEADS // HEADS
    layer = {
        "attn_norm": (WIDTH,), "attn_q": (WIDTH, WIDTH), "attn_k": (keys, WIDTH),
        "attn_v": (keys, WIDTH), "attn_output": (WIDTH, WIDTH), "ffn_norm": (WIDTH,),
        "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"output_norm": (WIDTH,)}
    for i in range(LAYERS):
        shapes |= {f"blk.{i}.{name}": shape for name, shape in layer.items()}
    embeddings = random.standard_normal((WORDS, WIDTH)).astype(np.float32)
    yield "token_embd.weight", embeddings
    yield "output.weight", np.roll(embeddings, STEP, 0)
    for name, shape in shapes.items():
        values = random.standard_normal(shape)
        scaled = 1 + 0.1 * values if len(shape) == 1 else 0.8 * values * shape[-1] ** -0.5
        yield f"{name}.weight", scaled.astype(np.float32)
