# SPDX-License-Identifier: Apache-2.0
"""Cases, as in `network_cases`, of libraries that train: transformers, accelerate and peft."""

from __future__ import annotations

from importlib import import_module
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from network_cases import (
    BATCH,
    HEADS,
    LENGTH,
    WIDTH,
    WORDS,
    _Dropout,
    _gradients,
    _random,
    _trained,
    _words,
)
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from network_cases import Results


def _transformers(
    device: str, kind: str, inputs: dict[str, torch.Tensor], **config: Any
) -> Results:
    """Train a model of the library transformers at its default settings, and evaluate it."""
    transformers: Any = import_module("transformers")

    torch.manual_seed(0)
    transformers.set_seed(0)
    model_type = getattr(transformers, kind)
    model = model_type(model_type.config_class(**config)).to(device)
    inputs = {name: value.to(device) for name, value in inputs.items()}
    model.eval()
    with torch.no_grad():
        found = {"evaluated": model(**inputs).logits}
    with _Dropout(device):
        model.train()
        found["loss"] = (loss := model(**inputs).loss)
        loss.backward()
    found |= _gradients(model)
    if hasattr(model, "generate") and model.can_generate():
        model.eval()
        prompt = inputs["input_ids"][:, :4]
        found["generated"] = model.generate(prompt, max_new_tokens=5, do_sample=False)
        torch.manual_seed(0)
        sampled = model.generate(prompt, max_new_tokens=5, min_new_tokens=5, do_sample=True)
        assert sampled.shape[0] == BATCH
    return found


SMALL = {
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 2,
    "vocab_size": WORDS,
}


def transformers_bert(device: str) -> Results:
    words = _words(BATCH, LENGTH)
    mask = torch.ones_like(words)
    mask[1, 8:] = 0
    inputs = {"input_ids": words, "attention_mask": mask, "labels": words}
    return _transformers(device, "BertForMaskedLM", inputs, **SMALL, intermediate_size=64)


def transformers_llama(device: str) -> Results:
    words = _words(BATCH, LENGTH)
    inputs = {"input_ids": words, "labels": words}
    options = {**SMALL, "intermediate_size": 64, "num_key_value_heads": 2}
    return _transformers(device, "LlamaForCausalLM", inputs, **options)


def transformers_gpt2(device: str) -> Results:
    words = _words(BATCH, LENGTH)
    options = {"n_embd": WIDTH, "n_head": HEADS, "n_layer": 2, "vocab_size": WORDS}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    inputs = {"input_ids": words, "labels": words}
    return _transformers(device, "GPT2LMHeadModel", inputs, **options, **ends)


def transformers_t5(device: str) -> Results:
    words = _words(BATCH, LENGTH)
    options = {"d_model": WIDTH, "d_kv": 8, "d_ff": 64, "num_heads": HEADS, "vocab_size": WORDS}
    inputs = {"input_ids": words, "labels": _words(BATCH, 6, seed=1)}
    start = {"num_layers": 2, "decoder_start_token_id": 0}
    return _transformers(device, "T5ForConditionalGeneration", inputs, **options, **start)


def transformers_vit(device: str) -> Results:
    options = {k: v for k, v in SMALL.items() if k != "vocab_size"}
    inputs = {"pixel_values": _random(BATCH, 3, 32, 32), "labels": torch.tensor([0, 1])}
    sizes = {"image_size": 32, "patch_size": 8, "intermediate_size": 64}
    return _transformers(device, "ViTForImageClassification", inputs, **options, **sizes)


def transformers_trainer(device: str) -> Results:
    transformers: Any = import_module("transformers")

    transformers.set_seed(0)
    sizes = {"n_embd": WIDTH, "n_head": HEADS, "n_layer": 2, "vocab_size": WORDS}
    none = dict.fromkeys(
        ("resid_pdrop", "embd_pdrop", "attn_pdrop", "bos_token_id", "eos_token_id"), 0
    )
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **none))
    rows = [
        {"input_ids": words, "labels": words, "attention_mask": torch.ones_like(words)}
        for words in _words(8, LENGTH)
    ]
    with TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            folder, per_device_train_batch_size=4, num_train_epochs=2, logging_steps=1,
            report_to=[], use_cpu=device == "cpu", disable_tqdm=True, learning_rate=1e-3,
        )  # fmt: skip
        trainer = transformers.Trainer(model, options, train_dataset=rows, eval_dataset=rows)
        trainer.train()
        trainer.save_model()
        again = transformers.GPT2LMHeadModel.from_pretrained(folder)
        loss = torch.tensor(trainer.evaluate()["eval_loss"])
    assert next(model.parameters()).device.type == device
    return {"loss": loss, **{f"saved {name}": value for name, value in again.named_parameters()}}


def accelerate_training(device: str) -> Results:
    accelerate: Any = import_module("accelerate")

    torch.manual_seed(0)
    accelerator = accelerate.Accelerator(cpu=device == "cpu", gradient_accumulation_steps=2)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    data = torch.utils.data.TensorDataset(_random(16, 6), torch.arange(16) % 3)
    model, optimizer, batches = accelerator.prepare(
        model,
        torch.optim.AdamW(model.parameters(), lr=1e-2),
        torch.utils.data.DataLoader(data, 4),
    )
    losses = []
    for x, labels in (batch for _ in range(2) for batch in batches):
        with accelerator.accumulate(model):
            losses.append(loss := functional.cross_entropy(model(x), labels))
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    assert accelerator.device.type == device
    found = {"losses": accelerator.gather(torch.stack(losses))}
    accelerate.state.GradientState._reset_state()  # for another device
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    return found


def peft_lora(device: str) -> Results:
    peft: Any = import_module("peft")
    transformers: Any = import_module("transformers")

    transformers.set_seed(0)
    options = {**SMALL, "intermediate_size": 64, "num_key_value_heads": 2}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**options))
    lora = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    model, words = peft.get_peft_model(model, lora).to(device), _words(BATCH, LENGTH).to(device)
    return _trained(model, lambda: model(input_ids=words, labels=words).loss)
