# SPDX-License-Identifier: Apache-2.0
"""An Ascend C kernel from golden data over tiling to a run, on a machine without an NPU.

It needs a C++ compiler and neither CANN nor a backend: ``python 05_kernel.py``.
"""

from pathlib import Path

import numpy as np

from pyaclnn import ascendc, tiling
from pyaclnn.reference.ascendc import layer_norm

KERNEL = Path(__file__).parent / "kernels" / "layer_norm.cpp"
SOC = "Ascend910B3"
BLOCKS, ROWS, H = 4, 8, 64
EPSILON = np.float32(1e-5)

# ---- golden data: what the kernel must give -----------------------------------------------------
rng = np.random.default_rng(0)
x = rng.normal(size=(1, BLOCKS * ROWS, H)).astype(np.float32)
gamma, beta = rng.normal(size=(2, H)).astype(np.float32)
golden = layer_norm(x, gamma, beta, EPSILON)
print(f"golden data: y {golden.output.shape}, variances around {golden.output_variance.mean():.2f}")

# ---- tiling: what CANN's host functions would compute, for the rows of one block ----------------
shape = (1, ROWS, H, H)
size = tiling.get_layer_norm_max_min_tmp_size(shape, x.itemsize, soc=SOC)
structure = tiling.get_layer_norm_nd_tiling_info(shape, size.max_value, x.itemsize, soc=SOC)
print(f"temporary memory: {size.min_value} to {size.max_value} bytes")
print(f"tiling: {structure.loopRound} rounds of {structure.bsCurLength} rows")

# ---- the kernel: compiled once, then run on NumPy arrays ----------------------------------------
kernel = ascendc.compile(KERNEL, soc=SOC)
y = np.zeros_like(x)
mean, variance = np.zeros(x.shape[:2], x.dtype), np.zeros(x.shape[:2], x.dtype)
kernel.launch(BLOCKS, x, gamma, beta, y, mean, variance, tiling=(structure, EPSILON))
error = np.abs(y - golden.output).max()
print(f"{kernel.name} on {BLOCKS} blocks of {kernel.soc}: largest error {error:.1e}")
assert np.allclose(y, golden.output, atol=1e-5)
assert np.allclose(variance, golden.output_variance, atol=1e-6)

# ---- a mistake: one FreeTensor less, which on a chip may go unnoticed for a long time -----------
faulty = ascendc.compile(KERNEL, soc=SOC, defines={"FORGET": 1})
try:
    faulty.launch(BLOCKS, x, gamma, beta, y, mean, variance, tiling=(structure, EPSILON))
except ascendc.KernelFault as fault:
    print(f"\nwith a mistake:\n{fault}")
