# SPDX-License-Identifier: Apache-2.0
"""Bounds of tensors whose elements share bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .raw_calls import HEAD

if TYPE_CHECKING:
    from .programs import Programs

CALL = """
FLOAT16, INT4, K, N = 1, 29, 32, 16
expect(0, ('aclInit', raw.NULL), ('aclrtSetDevice', 0))
stream = pointer('aclrtStream')
expect(0, ('aclrtCreateStream', stream))

def tensor(dims, kind, size):
    block = pointer('void *')
    expect(0, ('aclrtMalloc', block, size, 0))
    expect(0, ('aclrtMemset', block[0], size, 0, size))
    shape = ffi.new('int64_t[]', dims)
    strides = ffi.new('int64_t[]', [dims[1], 1])
    return raw.aclCreateTensor(shape, 2, kind, strides, 0, 2, shape, 2, block[0])

size, executor = pointer('uint64_t'), pointer('aclOpExecutor *')
x, scale = tensor([4, K], FLOAT16, 8 * K), tensor([1, N], FLOAT16, 2 * N)
weight, y = tensor([K, N], INT4, MOST), tensor([4, N], FLOAT16, 8 * N)
none = [raw.NULL] * 4
expect(0, ('aclnnWeightQuantBatchMatmulV2GetWorkspaceSize', x, weight, scale, *none, 0, y, size,
           executor))
work = pointer('void *')
expect(0, ('aclrtMalloc', work, size[0] + 32, 0))
expect(0, ('aclnnWeightQuantBatchMatmulV2', work[0], size[0], executor[0], stream[0]))
print(raw.aclrtSynchronizeStream(stream[0]))
"""


@pytest.mark.parametrize(("most", "fits"), [(256, True), (190, False)])
def test_two_numbers_of_four_bits_take_a_byte(most: int, fits: bool, programs: Programs) -> None:
    done = programs.python(HEAD + f"MOST = {most}" + CALL)
    assert done.returncode == 0, done.stderr
    assert (done.stdout.strip() == "0") == fits
    assert ("weight takes 256 bytes" in done.stderr) != fits
