# SPDX-License-Identifier: Apache-2.0
"""Kernels printed in the vendor's documents run unchanged and give the golden data.

The documents are not part of this project. Where they are at hand, PYACLNN_VENDOR_DOCUMENTS names
their folder; without it there is nothing to run here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc import tiling
from pyaclnn.reference import ascendc as golden

if TYPE_CHECKING:
    from pyaclnn.ascendc import Kernel
    from tests.kept import Keep

_FOLDER = os.environ.get("PYACLNN_VENDOR_DOCUMENTS")
_TEXTS = [p.read_text(encoding="utf-8") for p in sorted(Path(_FOLDER).glob("*"))] if _FOLDER else []
_START = '#include "kernel_operator.h"'

# A page that lost its line breaks keeps the kernel in one line, in a table; another has it fenced.
KERNELS = {
    re.findall(r"__global__ __aicore__ void (\w+)", code)[-1]: code
    for text in _TEXTS
    if _START in text
    for code in [text[text.index(_START) :].split("```")[0].rstrip().rstrip("|")]
}
# Examples of calls that are no complete kernels, from the pipe to the end of the call. They stand
# in one line each, so their comments have to be ended again.
_COMMENT = re.compile(r"//[^;]*?\s(?=pipe\.InitBuffer|AscendC::LocalTensor|AscendC::LayerNorm<)")
CALLS = [
    _COMMENT.sub("\n", code)
    for text in _TEXTS
    for code in re.findall(r"AscendC::TPipe pipe;\s.*?AscendC::LayerNorm<.*?;", text, re.DOTALL)
]

needs_documents = pytest.mark.skipif(not _FOLDER, reason="PYACLNN_VENDOR_DOCUMENTS names no folder")


def build(keep: Keep, name: str, code: str, **options: Any) -> Kernel:
    text = code.replace(_START, f"{_START}\n", 1)
    # In a folder that stays, as the program also follows from where its source lies.
    folder = keep("vendor", name, text)
    source = folder / f"{name}.cpp"
    source.write_text(text, encoding="utf-8")
    return ascendc.compile(source, cache_dir=folder / "cache", **options)


def random(*shape: int, dtype: type = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.exhaustive
@needs_documents
def test_the_kernel_of_layer_norm_grad(keep: Keep) -> None:
    name = "layernorm_grad_custom"
    kernel = build(keep, name, KERNELS[name])
    b, s, h = 2, 32, 16
    x, dy, gamma = random(b, s, h), random(b, s, h, seed=1), random(h, seed=2)
    variance, mean = x.var(-1), x.mean(-1)
    pd_x, res = np.zeros_like(x), np.zeros_like(x)
    size = tiling.get_layer_norm_grad_max_min_tmp_size((b, s, h, h), 4)[0]
    structure = tiling.get_layer_norm_grad_nd_tiling_info((b, s, h, h), size, 4)
    epsilon = np.float32(1e-5)
    kernel.launch(1, x, dy, variance, mean, gamma, pd_x, res, tiling=(structure, epsilon))
    expected = golden.layer_norm_grad(dy, x, variance, mean, gamma, float(epsilon))
    np.testing.assert_allclose(pd_x, expected.output_pd_x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(res, expected.res_for_gamma, rtol=1e-6, atol=1e-6)


@pytest.mark.exhaustive
@needs_documents
def test_the_kernel_of_layer_norm_grad_beta(keep: Keep) -> None:
    name = "kernel_layernorm_grad_beta_operator"
    fields = {"layerNormGradBetaTiling": "LayerNormGradBetaTiling"}
    kernel = build(keep, name, KERNELS[name], tiling_data=fields)
    b, s, h = 2, 8, 32
    res, dy = random(b, s, h, dtype=np.float16), random(b, s, h, dtype=np.float16, seed=1)
    pd_gamma, pd_beta = np.zeros(h, np.float16), np.zeros(h, np.float16)
    size = tiling.get_layer_norm_grad_beta_max_min_tmp_size((b, s, h, h), 2)[0]
    structure = tiling.get_layer_norm_grad_beta_nd_tiling_info((b, s, h, h), size, 2)
    kernel.launch(1, pd_gamma, pd_beta, res, dy, tiling=structure)
    expected = golden.layer_norm_grad_beta(res, dy)
    np.testing.assert_allclose(pd_gamma, expected.output_pd_gamma, rtol=2**-10, atol=2**-12)
    np.testing.assert_allclose(pd_beta, expected.output_pd_beta, rtol=2**-10, atol=2**-12)


# Parts that the documents omit: sources of values, filling and emptying of queues.
_CALL = """#include "kernel_operator.h"
{global_scope}
template <typename Q> __aicore__ inline void Fill(Q &queue, AscendC::LocalTensor<float> &local,
                                                  GM_ADDR from, uint32_t count)
{{
    AscendC::GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(from), count);
    AscendC::DataCopy(local, global, count);
    queue.EnQue(local);
    local = queue.template DeQue<float>();
}}
template <typename Q> __aicore__ inline void Empty(Q &queue, AscendC::LocalTensor<float> &local,
                                                   GM_ADDR to, uint32_t count)
{{
    AscendC::GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(to), count);
    queue.EnQue(local);
    local = queue.template DeQue<float>();
    AscendC::DataCopy(global, local, count);
    queue.FreeTensor(local);
}}
extern "C" __global__ __aicore__ void called(GM_ADDR xGm, GM_ADDR gammaGm, GM_ADDR betaGm,
                                             GM_ADDR yGm, GM_ADDR firstGm, GM_ADDR secondGm,
                                             float epsilon, GM_ADDR tilingGm)
{{
    GET_TILING_DATA_WITH_STRUCT({structure}, tiling, tilingGm);
{local_scope}
    {before_call}
    {fill}
    {call}
    {empty}
}}
"""


def _split(code: str) -> tuple[str, str]:
    call = code.rindex("AscendC::LayerNorm<")
    return code[:call], code[call:]


@pytest.mark.exhaustive
@needs_documents
def test_a_kernel_from_the_call_with_variance(keep: Keep) -> None:
    before, call = _split(next(code for code in CALLS if "outQueueVariance" in code))
    text = _CALL.format(
        global_scope="",
        structure="LayerNormTiling",
        local_scope="const uint32_t bshLength = tiling.inputXSize, hLength = tiling.hLength;\n"
        "const uint32_t bsLength = tiling.meanVarSize;",
        before_call=before,
        # The page declares gammal and betal, and calls with gamma and beta.
        fill="Fill(inQueueX, inputX, xGm, bshLength); Fill(inQueueGamma, gammal, gammaGm, hLength);"
        "Fill(inQueueBeta, betal, betaGm, hLength); auto &gamma = gammal, &beta = betal;",
        call=call,
        empty="Empty(outQueue, output, yGm, bshLength);"
        "Empty(outQueueMean, mean, firstGm, bsLength);"
        "Empty(outQueueVariance, variance, secondGm, bsLength); inQueueX.FreeTensor(inputX);"
        "inQueueGamma.FreeTensor(gammal); inQueueBeta.FreeTensor(betal);",
    )
    b, s, h = 2, 8, 32
    x, gamma, beta = random(b, s, h), random(h, seed=1), random(h, seed=2)
    y, mean, variance = np.zeros_like(x), np.zeros((b, s), x.dtype), np.zeros((b, s), x.dtype)
    size = tiling.get_layer_norm_max_min_tmp_size((b, s, h, h), 4)[0]
    structure = tiling.get_layer_norm_nd_tiling_info((b, s, h, h), size, 4)
    kernel = build(keep, "called", text)
    kernel.launch(1, x, gamma, beta, y, mean, variance, 1e-5, tiling=structure)
    for actual, expected in zip(
        (y, mean, variance), golden.layer_norm(x, gamma, beta, 1e-5), strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@needs_documents
def test_a_kernel_from_the_call_with_rstd(keep: Keep) -> None:
    before, call = _split(next(code for code in CALLS if "outQueueRstd" in code))
    text = _CALL.format(
        global_scope="constexpr AscendC::LayerNormConfig config{false, false, false};",
        structure="LayerNormSeparateTiling",
        local_scope="const uint32_t aLength = tiling.aLength, rLength = tiling.rLength;\n"
        "const uint32_t rLengthWithPadding = (rLength + 7) / 8 * 8;\n"
        "const uint32_t arLength = aLength * rLengthWithPadding;\n"
        "const AscendC::LayerNormPara para{aLength, rLength, rLengthWithPadding};\n"
        # The page declares outQueueRstd, and sets up and uses outQueue1.
        "AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue1;",
        before_call=before,
        fill="Fill(inQueueX, inputX, xGm, arLength);"
        "Fill(inQueueGamma, gamma, gammaGm, rLengthWithPadding);"
        "Fill(inQueueBeta, beta, betaGm, rLengthWithPadding);",
        call=call,
        empty="Empty(outQueue, output, yGm, arLength); Empty(outQueueMean, mean, firstGm, aLength);"
        "Empty(outQueue1, output1, secondGm, aLength); inQueueX.FreeTensor(inputX);"
        "inQueueGamma.FreeTensor(gamma); inQueueBeta.FreeTensor(beta);",
    )
    a, r, padded = 8, 21, 24
    x, gamma, beta = random(a, padded), random(padded, seed=1), random(padded, seed=2)
    y, mean, rstd = np.zeros_like(x), np.zeros(a, x.dtype), np.zeros(a, x.dtype)
    size = tiling.get_layer_norm_rstd_max_min_tmp_size((a, r), 4)[0]
    structure = tiling.get_layer_norm_rstd_nd_tiling_info((a, r), size, 4)
    kernel = build(keep, "called", text)
    kernel.launch(1, x, gamma, beta, y, mean, rstd, 1e-5, tiling=structure)
    expected = golden.layer_norm_rstd(x, gamma, beta, 1e-5, golden.LayerNormPara(a, r, padded))
    np.testing.assert_allclose(y[:, :r], expected.output[:, :r], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mean, expected.output_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(rstd, expected.output_rstd, rtol=1e-5, atol=1e-6)


@needs_documents
def test_the_folder_has_the_kernels() -> None:
    assert len(KERNELS) == 2
    assert len(CALLS) == 2
