# SPDX-License-Identifier: Apache-2.0
"""Single operators whose tensors are stored in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import npu
from .test_single_operator import NULL, TYPES, ffi, lib, number

pytestmark = pytest.mark.usefixtures("context")
NCHW, NHWC, ND, FIVE, FRACTAL_Z, NZ = 0, 1, 2, 3, 4, 29
BLOCK = 16
STEP = {
    "data_format": "NCHW",
    "strides": (1, 1, 1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1, 1, 1),
}


def five(x: Any) -> Any:
    """An image as NC1HWC0, by its definition."""
    n, c, h, w = x.shape
    made = np.zeros((n, -(-c // BLOCK), h, w, BLOCK), x.dtype)
    for at in np.ndindex(n, c, h, w):
        made[at[0], at[1] // BLOCK, at[2], at[3], at[1] % BLOCK] = x[at]
    return made


def fractal_z(x: Any) -> Any:
    """Filters as FRACTAL_Z, by its definition."""
    n, c, h, w = x.shape
    made = np.zeros((-(-c // BLOCK) * h * w, -(-n // BLOCK), BLOCK, BLOCK), x.dtype)
    for i, j, y, z in np.ndindex(n, c, h, w):
        made[(j // BLOCK * h + y) * w + z, i // BLOCK, i % BLOCK, j % BLOCK] = x[i, j, y, z]
    return made


def fractal_nz(x: Any) -> Any:
    """A matrix as FRACTAL_NZ, by its definition."""
    made = np.zeros((-(-x.shape[1] // BLOCK), -(-x.shape[0] // BLOCK), BLOCK, BLOCK), x.dtype)
    for i, j in np.ndindex(x.shape):
        made[j // BLOCK, i // BLOCK, i % BLOCK, j % BLOCK] = x[i, j]
    return made


STORED = {NCHW: lambda x: x, ND: lambda x: x, FIVE: five, FRACTAL_Z: fractal_z, NZ: fractal_nz}


def run(
    name: str, inputs: list[Any], result: Any, origin: int = NCHW, **attributes: Any
) -> tuple[int, Any]:
    """Execute an operator of tensors, each with its storage's format and the storage."""
    attr, descs, buffers, memory = lib.aclopCreateAttr(), [], [], []
    for key, value in attributes.items():
        if isinstance(value, bool):
            lib.aclopSetAttrBool(attr, key.encode(), value)
        elif isinstance(value, str):
            lib.aclopSetAttrString(attr, key.encode(), value.encode())
        else:
            lib.aclopSetAttrListInt(attr, key.encode(), len(value), list(value))
    for dims, form, stored in (*inputs, result):
        desc = lib.aclCreateTensorDesc(TYPES[stored.dtype], len(dims), list(dims), origin)
        assert lib.aclSetTensorFormat(desc, form) == 0
        assert lib.aclSetTensorShape(desc, stored.ndim, list(stored.shape)) == 0
        memory.append(npu.device_memory(stored.nbytes))
        npu.write(memory[-1], stored.tobytes())
        address = ffi.cast("void *", number(memory[-1]))
        buffers.append(lib.aclCreateDataBuffer(address, stored.nbytes))
        descs.append(desc)
    count = len(inputs)
    status = lib.aclopCompileAndExecute(
        name.encode(), count, descs[:count], buffers[:count], 1, descs[count:], buffers[count:],
        attr, 0, 0, NULL, NULL,
    )  # fmt: skip
    status = status or lib.aclrtSynchronizeStream(NULL)
    stored = result[2]
    found = np.frombuffer(npu.read(memory[-1], stored.nbytes), stored.dtype).reshape(stored.shape)
    for desc, buffer, address in zip(descs, buffers, memory, strict=True):
        lib.aclDestroyTensorDesc(desc)
        lib.aclDestroyDataBuffer(buffer)
        npu.call("aclrtFree", address)
    lib.aclopDestroyAttr(attr)
    return status, found


def numbers(*shape: int) -> Any:
    return (np.arange(np.prod(shape)) % 13 - 6).astype(np.float32).reshape(shape)


X, FILTERS = numbers(2, 19, 2, 3), numbers(18, 19, 1, 1)
A, B = numbers(5, 20), numbers(20, 33)
CASES = [
    ("Relu", [(X, FIVE)], (np.maximum(X, 0), FIVE), {}),
    ("Identity", [(X, NCHW)], (X, FIVE), {}),
    ("Identity", [(X, FIVE)], (X, NCHW), {}),
    ("Identity", [(FILTERS, NCHW)], (FILTERS, FRACTAL_Z), {}),
    ("Identity", [(FILTERS, FRACTAL_Z)], (FILTERS, NCHW), {}),
    ("Conv2D", [(X, FIVE), (FILTERS, FRACTAL_Z)],
     (np.einsum("nchw,oc->nohw", X, FILTERS[:, :, 0, 0]), FIVE), STEP),
    ("MatMul", [(A, ND), (B, NZ)], (A @ B, ND), {}),
    ("MatMul", [(A, NZ), (B.T.copy(), NZ)], (A @ B, NZ), {"transpose_x2": True}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "result", "attributes"), CASES)
def test_an_operator_computes_with_what_the_blocks_hold(
    name: str, inputs: list[Any], result: Any, attributes: dict[str, Any]
) -> None:
    given = [(x.shape, form, STORED[form](x)) for x, form in inputs]
    wanted, form = result
    blocks = STORED[form](wanted)
    status, found = run(name, given, (wanted.shape, form, blocks * 0 - 1), **attributes)
    assert status == 0, npu.message()
    assert found.tolist() == blocks.tolist()  # what is behind the tensor is 0


@pytest.mark.parametrize(
    ("dims", "form", "stored", "origin"),
    [
        ((2, 3), NZ, (1, 2, 16, 16), ND),
        ((1, 3, 4, 4), FIVE, (1, 2, 4, 4, 16), NCHW),
        ((1, 4, 4, 3), FIVE, (1, 1, 4, 4, 16), NHWC),
        ((1, 4, 4, 4), FIVE, (1, 1, 4, 4, 16), NHWC),
        ((1, 3, 4, 4), 12, (1, 1, 4, 4, 4), NCHW),
        ((1, 1, 16, 16), NZ, (1, 1, 16, 16), NZ),
    ],
)
def test_blocks_that_no_kernel_reads_are_refused(
    dims: tuple[int, ...], form: int, stored: tuple[int, ...], origin: int
) -> None:
    given = (dims, form, np.zeros(stored, np.float32))
    status, _ = run("Relu", [given], given, origin)
    message = npu.message()
    assert status == 999001
    formats = {NZ: "FRACTAL_NZ", FIVE: "NC1HWC0", 12: "NC1HWC0_C04"}
    for told in ("single operator Relu", "inputs[0] of shape ", f"stored as {formats[form]} of"):
        assert told in message


def test_an_operator_that_is_told_formats_takes_blocks_as_they_are() -> None:
    blocks, out = fractal_nz(A), A * 0 - 1
    told = {"src_format": "FRACTAL_NZ", "dst_format": "ND"}
    given = (blocks.shape, NZ, blocks)
    status, found = run("TransData", [given], (A.shape, ND, out), NZ, **told)
    assert (status, found.tolist()) == (0, A.tolist()), npu.message()
    status, found = run("TransData", [(A.shape, NZ, blocks)], (A.shape, ND, out), ND, **told)
    assert (status, found.tolist()) == (0, A.tolist()), npu.message()
