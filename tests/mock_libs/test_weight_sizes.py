# SPDX-License-Identifier: Apache-2.0
"""Functions of operator libraries that only compute on the host."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from .raw_calls import HEAD

if TYPE_CHECKING:
    from .programs import Programs

SHAPES = """
size = ffi.new('uint64_t *', 7)

def array(*dims):
    return raw.aclCreateIntArray(ffi.new('int64_t[]', dims), len(dims))
"""
F32, F16, INT8, BF16 = 0, 1, 2, 27
MATMUL, MATMUL_V2 = "aclnnCalculateMatmulWeightSize", "aclnnCalculateMatmulWeightSizeV2"
CONVOLUTION = "aclnnCalculateConvolutionWeightSize"

# The chip, the function, the shape, what follows it, and the elements or the status.
SIZES = [
    ("Ascend910B3", MATMUL, (17, 31), (), 32 * 32),
    ("Ascend910B3", MATMUL, (3, 16, 33), (), 3 * 16 * 48),
    ("Ascend310P3", MATMUL, (17, 31), (), 32 * 32),
    ("Ascend310P3", MATMUL, (3, 16, 33), (), -161002),
    ("Ascend910A", MATMUL, (17, 31), (), 17 * 31),
    ("Ascend910B3", MATMUL, (17,), (), -161002),
    ("Ascend910B3", MATMUL, (1, 1, 1, 1, 1, 17, 31), (), -161002),
    ("Ascend910B3", MATMUL_V2, (17, 31), (F16,), 32 * 32),
    ("Ascend910B3", MATMUL_V2, (2, 17, 33), (BF16,), 2 * 32 * 48),
    ("Ascend910B3", MATMUL_V2, (17, 33), (INT8,), 32 * 64),
    ("Ascend910B3", MATMUL_V2, (17, 33), (F32,), -161002),
    ("Ascend910B3", MATMUL_V2, (0, 33), (F16,), -161002),
    ("Ascend910A", MATMUL_V2, (17, 33), (F16,), -361001),
    ("Ascend310P3", CONVOLUTION, (17, 3, 5, 7), (False, 1, F16), 32 * 16 * 35),
    ("Ascend310P3", CONVOLUTION, (17, 3, 5), (False, 1, F16), -161002),
    ("Ascend310P3", CONVOLUTION, (17, 3, 5, 7), (False, 1, F32), -161002),
    ("Ascend310P3", CONVOLUTION, (16, 2, 5, 7), (False, 2, F16), -999001),
]


@pytest.mark.parametrize("chip", sorted({row[0] for row in SIZES}))
def test_sizes_of_weights_are_those_of_the_cube_units_layout(chip: str, programs: Programs) -> None:
    rows = [row[1:] for row in SIZES if row[0] == chip]
    code = f"""
for name, shape, more, wanted in {rows!r}:
    status = raw_call(name, array(*shape), *more, size)
    assert (-status if status else size[0]) == wanted, (name, shape, more, status, size[0])
"""
    done = programs.python(HEAD + SHAPES + code, PYACLNN_MOCK_SOC=chip)
    assert done.returncode == 0, done.stderr


def bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


MARK, OFFSET = 1 << 46, 37
# Scales, offsets, and the words: the bits of a scale, a mark, and nine bits of an offset.
FACTORS: list[tuple[list[float], list[float], list[int]]] = [
    ([0.5], [], [bits(0.5) | MARK]),
    ([0.5, 2.0], [], [bits(0.5) | MARK, bits(2.0) | MARK, *[0] * 14]),
    ([1.0], [3.0], [bits(1.0) | MARK | 3 << OFFSET]),
    ([1.0], [-1.0], [bits(1.0) | MARK | 511 << OFFSET]),
    ([1.0], [900.0], [bits(1.0) | MARK | 255 << OFFSET]),
    ([1.0], [-900.0], [bits(1.0) | MARK | 256 << OFFSET]),
    ([1.0], [2.4, 2.6], [bits(1.0) | MARK | n << OFFSET for n in (2, 3)] + [0] * 14),
]


def test_factors_of_quantization_are_packed_into_words(programs: Programs) -> None:
    code = f"""
words, count = pointer('uint64_t *'), pointer('uint64_t')
for scales, offsets, wanted in {FACTORS!r}:
    given = (ffi.new('float[]', scales), len(scales))
    given += (ffi.new('float[]', offsets), len(offsets)) if offsets else (N, 0)
    expect(0, ('aclnnTransQuantParam', *given, words, count))
    assert list(words[0][0:count[0]]) == wanted, (scales, offsets)
one = ffi.new('float[]', [1.0])
expect(161002, ('aclnnTransQuantParam', N, 1, N, 0, words, count))
expect(161002, ('aclnnTransQuantParam', one, 1, one, 0, words, count))
expect(161001, ('aclnnTransQuantParam', one, 1, N, 0, N, count))
"""
    done = programs.python(HEAD + code)
    assert done.returncode == 0, done.stderr


ND, NCHW, NHWC, NC1HWC0, FRACTAL_Z, NZ, NCDHW, NDC1HWC0, FRACTAL_Z_3D = (
    2,
    0,
    1,
    3,
    4,
    29,
    30,
    32,
    33,
)
# The format, dimensions and type of a tensor, the format wanted and its type; the dimensions then.
FORMATS = [
    (ND, (17, 33), F16, NZ, -1, [3, 2, 16, 16]),
    (ND, (2, 17, 33), INT8, NZ, -1, [2, 2, 2, 16, 32]),
    (ND, (17, 33), F32, NZ, -1, [5, 2, 16, 8]),
    (ND, (17, 33), F32, NZ, F16, [3, 2, 16, 16]),
    (NZ, (17, 33), F16, ND, -1, [17, 33]),
    (NCHW, (2, 17, 5, 6), F16, NC1HWC0, -1, [2, 2, 5, 6, 16]),
    (NHWC, (2, 5, 6, 17), F16, NC1HWC0, -1, [2, 2, 5, 6, 16]),
    (NCHW, (20, 17, 3, 2), F16, FRACTAL_Z, -1, [2 * 3 * 2, 2, 16, 16]),
    (NCDHW, (2, 17, 4, 5, 6), F16, NDC1HWC0, -1, [2, 4, 2, 5, 6, 16]),
    (NCDHW, (20, 17, 4, 3, 2), F16, FRACTAL_Z_3D, -1, [4 * 2 * 3 * 2, 2, 16, 16]),
    (NCHW, (2, 17, 5, 6), F16, NZ, -1, -361001),
    (ND, (17,), F16, NZ, -1, -161002),
    (NCHW, (2, 17, 5), F16, NC1HWC0, -1, -161002),
]


def test_a_tensor_in_another_format_has_its_blocks(programs: Programs) -> None:
    code = f"""
dims, count, found = pointer('int64_t *'), pointer('uint64_t'), pointer('int')
name = 'aclnnNpuFormatCastCalculateSizeAndFormat'
for format, shape, dtype, wanted, other, answer in {FORMATS!r}:
    given = ffi.new('int64_t[]', shape)
    x = raw.aclCreateTensor(given, len(shape), dtype, N, 0, format, given, len(shape), N)
    status = raw_call(name, x, wanted, other, dims, count, found)
    told = -status if status else list(dims[0][0:count[0]])
    assert told == answer, (format, shape, wanted, told)
    assert status or found[0] == wanted
expect(161001, (name, N, {NZ}, -1, dims, count, found))
"""
    done = programs.python(HEAD + code, PYACLNN_MOCK_CANN="9.1")
    assert done.returncode == 0, done.stderr
