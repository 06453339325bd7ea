# SPDX-License-Identifier: Apache-2.0
"""Operators of all kinds by their C names, and a kernel of one's own for the simulated NPU.

It runs on the simulated NPU; remove the line with ``select_backend`` to run it on an NPU.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

import pyaclnn
from pyaclnn import Empty, aclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

# On a real NPU this says nothing to anybody: the simulated one has no attention.
os.environ["PYACLNN_MOCK_OPERATORS"] = str(Path(__file__).parent / "custom_operator/attention.py")

x = np.array([[3, -1, 2], [0, 5, -4]], np.float32)
row = np.array([10, 20, 30], np.float32)


def show(kind: str, result: Any, expected: Any) -> None:
    """Check what an operator gave, and print the first of it."""
    results = result if isinstance(result, tuple) else (result,)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for one, other in zip(results, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    print(f"{kind:<22} {results[0].tolist()!s:.70}")


# In place: what is written is returned.
mine = x.copy()
show("in place", aclnn.inplace_add(mine, row, 2.0), x + 2 * row)
assert np.array_equal(mine, x + 2 * row)

# Results are left out where a rule gives their shapes.
show("broadcast", aclnn.add(x, row, alpha=1.0), x + row)
show("scalar", aclnn.muls(x, np.float32(0.5)), x / 2)
show("truth", aclnn.gt_scalar(x, 0.0), x > 0)
show("reduction", aclnn.mean(x, [1], keepDim=True, dtype="float32"), x.mean(1, keepdims=True))
show("int8", aclnn.cast(x, np.int8), x.astype(np.int8))

# Elsewhere they are asked for.
show("list in", aclnn.cat([x, x], 0, Empty((4, 3), x.dtype)), np.concatenate([x, x]))
parts = [Empty((2, 2), x.dtype), Empty((2, 1), x.dtype)]
show("list out", aclnn.split_with_size(x, [2, 1], 1, parts), (x[:, :2], x[:, 2:]))
show(
    "two results",
    aclnn.topk(x, 2, -1, largest=True, sorted=True, valuesOut=Empty((2, 2), x.dtype),
               indicesOut=Empty((2, 2), np.int64)),
    (np.array([[3, 2], [5, 0]]), np.array([[0, 2], [1, 0]])),
)  # fmt: skip
show(
    "string",
    aclnn.gelu_backward_v2(np.ones_like(x), x, "tanh", Empty(x.shape, x.dtype)),
    np.array([[1.011584, -0.082964, 1.086099], [0.5, 1.000002, -0.000335]]),
)

# Only the operator knows their number: actual() waits, and returns an array of that size.
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    places = aclnn.nonzero(
        pyaclnn.to_device(x, device), Empty((x.size, x.ndim), np.int64), stream=stream
    )
    show("data-dependent", places.actual().numpy(), np.argwhere(x))

# Twenty-one optional parameters are NULL. The simulated NPU has no kernel for this: it gets one.
rng = np.random.default_rng(0)
query, key, value = rng.normal(size=(3, 1, 2, 4, 16)).astype(np.float16)
names = "preTokens nextTokens sparseMode innerPrecise blockSize antiquantMode"
zeros: dict[str, Any] = dict.fromkeys([*names.split(), "keyAntiquantMode", "valueAntiquantMode"], 0)
out, _ = pyaclnn.op("aclnnFusedInferAttentionScoreV2")(
    query,
    [key],
    [value],
    numHeads=2,
    numKeyValueHeads=2,
    scaleValue=0.25,
    inputLayout="BNSD",
    softmaxLseFlag=False,
    attentionOut=Empty(query.shape, query.dtype),
    softmaxLse=None,
    **zeros,
)
weights = np.exp(0.25 * query.astype(np.float64) @ key.astype(np.float64).swapaxes(-1, -2))
expected = weights / weights.sum(-1, keepdims=True) @ value.astype(np.float64)
np.testing.assert_allclose(out, expected, atol=5e-3)
print(f"{'many optionals':<22} {out.shape}, {out.dtype}")
