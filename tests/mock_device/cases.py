# SPDX-License-Identifier: Apache-2.0
"""Calls of operators and what PyTorch gives for them.

`kernel_cases.txt` has a line each, ``Name(arguments) = result``: arguments in the language of
`GENERATORS`, a result as an expression of PyTorch on them, independent of the kernel.
``python -m tests.mock_device.cases`` writes them down as numbers in `kernel_vectors.jsonl`, which
is compared without PyTorch.
"""

from __future__ import annotations

import json
import math
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FILE: Final = Path(__file__).with_name("kernel_cases.txt")
CASE: Final = '{"case": true, '
VECTORS: Final = Path(__file__).with_name("kernel_vectors.jsonl")
WORDS: Final = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint64": "u64",
    "bool": "bool",
    "complex64": "c64",
    "float8_e4m3fn": "e4m3",
    "float8_e8m0fnu": "e8m0",
}

NARROW: Final = {"f16", "e4m3", "e8m0"}
"""Words of floats that PyTorch computes in float32."""


def steps(*dims: int, seed: int = 1) -> NDArray[Any]:
    """Different numbers in [-2, 2), each of few bits, in no order."""
    count = math.prod(dims)
    places = (np.arange(count) * 37 + 11 * seed) % 127
    return (places / 32 - 2).reshape(dims)


def f(*dims: int, seed: int = 1) -> NDArray[Any]:
    """Floats in [-2, 2)."""
    return steps(*dims, seed=seed).astype(np.float32)


def h(*dims: int, seed: int = 1) -> NDArray[Any]:
    """Floats of 16 bits in [-2, 2); PyTorch computes with them in float32."""
    return steps(*dims, seed=seed).astype(np.float16)


def u(*dims: int, seed: int = 2) -> NDArray[Any]:
    """Floats in (0, 1)."""
    return (steps(*dims, seed=seed) / 4.25 + 0.5).astype(np.float32)


def i(most: int, *dims: int, seed: int = 3) -> NDArray[Any]:
    """Integers below ``most``."""
    numbers: NDArray[Any] = np.arange(math.prod(dims)) * 5 + seed
    numbers = np.arange(math.prod(dims)) * 5 + seed
    found: NDArray[Any] = numbers * 7 // 3 % most
    return found.reshape(dims)


def q(*dims: int, seed: int = 4) -> NDArray[Any]:
    """Integers of 8 bits."""
    return np.asarray(steps(*dims, seed=seed) * 20, np.int8)


def b(*dims: int, seed: int = 5) -> NDArray[Any]:
    """Truth values."""
    found: NDArray[Any] = i(3, *dims, seed=seed) != 1
    return found


def bf(*dims: int, seed: int = 1) -> NDArray[Any]:
    """Floats of bfloat16 in [-2, 2)."""
    return f(*dims, seed=seed).astype(ml_dtypes.bfloat16)


GENERATORS: Final = {"f": f, "bf": bf, "h": h, "u": u, "i": i, "q": q, "b": b, "np": np}


class Case(NamedTuple):
    """One call."""

    operator: str
    given: dict[str, Any]
    oracle: str


def cases() -> Iterator[Case]:
    text = re.sub(r"\n +", " ", FILE.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        call, _, oracle = line.partition(" = ")
        name, _, arguments = call.partition("(")
        given = eval(f"dict({arguments}", dict(GENERATORS))  # noqa: S307 (our own)
        yield Case(name[1:] if name.startswith("=") else f"aclnn{name}", given, oracle)


def expected(case: Case) -> list[Any]:
    """What PyTorch gives: an array, a list of them or None for each result."""
    torch: Any = import_module("torch")
    oracles = vars(import_module("tests.mock_device.oracles"))
    given = {name: tensors(torch, value) for name, value in case.given.items()}
    found = eval(case.oracle, {**oracles, "torch": torch, **given})  # noqa: S307 (our own)
    return [arrays(each) for each in (found if isinstance(found, tuple) else (found,))]


def tensors(torch: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [tensors(torch, item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(value.astype(np.float32)).bfloat16()
    if isinstance(value, np.ndarray) and WORDS[value.dtype.name] in NARROW:
        value = value.astype(np.float32)
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


def arrays(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [arrays(item) for item in value]
    if value is None or isinstance(value, np.ndarray):
        return value
    if value.dtype == import_module("torch").bfloat16:
        numbers: NDArray[Any] = value.detach().float().numpy()
        return numbers.astype(ml_dtypes.bfloat16)
    return value.detach().resolve_conj().numpy()


def plain(value: Any) -> Any:
    """A value as it is in a line of JSON."""
    if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
        return [plain(item) for item in value]
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    word = WORDS[value.dtype.name]
    if value.dtype == ml_dtypes.bfloat16:
        value = value.astype(np.float32)
    if value.dtype.kind == "c":
        return {word: value.astype(str).tolist()}
    if word in NARROW:
        value = value.astype(np.float32)
    numbers = value if value.dtype.kind != "f" or word == "e8m0" else shortened(value)
    return {word: numbers.tolist()}


def shortened(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of 7 digits."""
    return np.array([float(f"{x:.7g}") for x in values.ravel()]).reshape(values.shape)


def line_of(operator: str, given: dict[str, Any], results: list[Any]) -> str:
    names = [p.name for p in catalogue()[operator].parameters if p.written]
    found = {name: plain(value) for name, value in zip(names, results, strict=True)}
    read = {name: plain(value) for name, value in given.items()}
    return json.dumps({"operator": operator, "given": read, "results": found})


def main() -> None:
    lines = VECTORS.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(CASE)]
    VECTORS.write_text(
        "\n".join([*kept, *map(recorded, cases())]) + "\n",
        encoding="utf-8",
    )


def recorded(case: Case) -> str:
    try:
        return CASE + line_of(case.operator, case.given, expected(case))[1:]
    except Exception as error:
        raise RuntimeError(case.operator) from error


if __name__ == "__main__":
    main()
