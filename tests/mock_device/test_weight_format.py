# SPDX-License-Identifier: Apache-2.0
"""Kernels read a weight whose memory is FRACTAL_NZ as the matrix that it holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.mock.protocol.dtypes import DATA_TYPES, FORMATS

if TYPE_CHECKING:
    from pyaclnn.mock.protocol.values import Value

    from .bench import Bench

ROWS, COLUMNS, BLOCK = 20, 40, 16


def test_a_product_with_a_weight_in_blocks_is_that_of_its_matrix(bench: Bench) -> None:
    weight = (np.arange(ROWS * COLUMNS) % 23 - 11).reshape(ROWS, COLUMNS)
    blocks = np.zeros((3, 2, BLOCK, BLOCK))
    for i, j in np.ndindex(ROWS, COLUMNS):
        blocks[j // BLOCK, i // BLOCK, i % BLOCK, j % BLOCK] = weight[i, j]
    placed = bench.put(blocks, DATA_TYPES["FLOAT16"])
    stored = replace(
        placed,
        format=FORMATS["FRACTAL_NZ"],
        dims=(ROWS, COLUMNS),
        strides=(COLUMNS, 1),
        storage_dims=(3, 2, BLOCK, BLOCK),
    )
    x = np.arange(2 * ROWS).reshape(2, ROWS) % 7
    given, out = bench.put(x, DATA_TYPES["FLOAT16"]), bench.empty(2, COLUMNS, data_type=1)
    call: dict[str, Value] = {"self": given, "mat2": stored, "out": out, "cubeMathType": 0}
    bench.launch("aclnnMatmulWeightNz", call)
    assert bench.get(out).tolist() == (x @ weight).tolist()


def test_a_matrix_is_written_in_blocks_and_read_again(bench: Bench) -> None:
    matrix = (np.arange(ROWS * COLUMNS) % 23 - 11).reshape(ROWS, COLUMNS)
    given = bench.put(matrix, DATA_TYPES["FLOAT16"])
    placed = bench.empty(3, 2, BLOCK, BLOCK, data_type=1)
    stored = replace(
        placed,
        format=FORMATS["FRACTAL_NZ"],
        dims=(ROWS, COLUMNS),
        strides=(COLUMNS, 1),
        storage_dims=(3, 2, BLOCK, BLOCK),
    )
    bench.launch("aclnnNpuFormatCast", {"srcTensor": given, "dstTensor": stored})
    blocks = bench.get(placed)
    for i, j in ((0, 0), (17, 3), (2, 18), (19, 39)):
        assert blocks[j // BLOCK, i // BLOCK, i % BLOCK, j % BLOCK] == matrix[i, j]
    assert not blocks[2, :, :, 8:].any()  # what is behind the matrix is 0
    back = bench.empty(ROWS, COLUMNS, data_type=1)
    bench.launch("aclnnNpuFormatCast", {"srcTensor": stored, "dstTensor": back})
    assert bench.get(back).tolist() == matrix.tolist()


def test_a_weight_prepared_in_place_is_multiplied_transposed(bench: Bench) -> None:
    """As llama.cpp does it: storage of one dimension, padded; then a transposed view of it."""
    matrix = (np.arange(ROWS * COLUMNS) % 23 - 11).reshape(ROWS, COLUMNS)
    placed = bench.put(np.pad(matrix.ravel(), (0, 3 * 2 * BLOCK**2 - matrix.size)), 1)
    flat = replace(placed, dims=(ROWS, COLUMNS), strides=(COLUMNS, 1))
    bench.launch("aclnnTransMatmulWeight", {"mmWeightRef": flat})
    blocks = bench.get(placed).reshape(3, 2, BLOCK, BLOCK)
    for i, j in np.ndindex(ROWS, COLUMNS):
        assert blocks[j // BLOCK, i // BLOCK, i % BLOCK, j % BLOCK] == matrix[i, j]
    turned = replace(flat, format=FORMATS["FRACTAL_NZ"], dims=(COLUMNS, ROWS), strides=(1, COLUMNS))
    x = np.arange(2 * COLUMNS).reshape(2, COLUMNS) % 7
    given, out = bench.put(x, 1), bench.empty(2, ROWS, data_type=1)
    bench.launch("aclnnMm", {"self": given, "mat2": turned, "out": out, "cubeMathType": 2})
    assert bench.get(out).tolist() == (x @ matrix.T).tolist()
