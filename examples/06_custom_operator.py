# SPDX-License-Identifier: Apache-2.0
"""A custom operator, from a C header and a kernel to a call in two phases.

``custom_operator/`` has the operator's aclnn header, its kernel in Ascend C, and its rules and
tiling. They become a package that is found as CANN finds custom operators, by
ASCEND_CUSTOM_OPP_PATH. The last line of its output is an error that is expected, and says so.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

import pyaclnn
from pyaclnn.ascendc.custom import CustomOperators
from pyaclnn.ascendc.package import build_package

SOURCES = Path(__file__).parent / "custom_operator"

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

with tempfile.TemporaryDirectory() as folder:
    # ---- the package: both phases as a C library, rules and kernel for the device ---------------
    package = build_package(
        folder,
        headers=[SOURCES / "aclnn_add_layer_norm_custom.h"],
        operators=SOURCES / "operators.py",
        sources=[SOURCES / "add_layer_norm_custom.cpp"],
    )
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(package)
    operators = CustomOperators(package)

    # ---- the operator, like any other -----------------------------------------------------------
    rng = np.random.default_rng(0)
    x1, x2 = rng.normal(size=(2, 64, 100)).astype(np.float32)
    gamma, beta = rng.normal(size=(2, 100)).astype(np.float32)
    with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
        inputs = [pyaclnn.to_device(array, device) for array in (x1, x2, gamma, beta)]
        y = pyaclnn.to_device(np.zeros_like(x1), device)
        operators.launch("aclnnAddLayerNormCustom", *inputs, 1e-5, y, stream=stream)
        stream.synchronize()
        expected = pyaclnn.layer_norm(x1 + x2, 100, gamma, beta).out
        error = np.abs(y.numpy() - expected).max()
        print(f"aclnnAddLayerNormCustom on {device.soc_name}: largest error {error:.1e}")
        assert np.allclose(y.numpy(), expected, atol=1e-5)

        # ---- what its rules refuse, it refuses like any other -----------------------------------
        try:
            operators.launch("aclnnAddLayerNormCustom", *inputs[:3], None, 1e-5, y, stream=stream)
        except pyaclnn.InvalidArgumentError as refusal:
            print(f"Expected error, without beta: {str(refusal).splitlines()[0]}")
        for array in (*inputs, y):
            array.close()
