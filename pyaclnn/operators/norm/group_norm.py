# SPDX-License-Identifier: Apache-2.0
"""Group normalization."""

from __future__ import annotations

from math import nan, prod

from pyaclnn.operators.operator import Build, describe
from pyaclnn.operators.parameters import given, integer, real, result

__all__ = ["GROUP_NORM"]

GROUP_NORM = describe(
    "aclnnGroupNorm",
    Build.COMPOSITE,
    "Normalize the channels of each group together, ``(input - mean) * rstd``, then scale and "
    "shift each channel. Over no elements, ``mean`` is 0 and ``rstd`` NaN.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p 910": "T=f32,f16"},
    self=given("T N C space*", "What is normalized: batch, channels and other axes", name="input"),
    gamma=given("T C", "The scale of each channel; ones if None", name="weight", optional=True),
    beta=given("T C", "The shift of each channel; zeros if None", name="bias", optional=True),
    N=integer(derived=lambda known: known["N"][0]),
    C=integer(derived=lambda known: known["C"][0]),
    HxW=integer(derived=lambda known: prod(known["space"])),
    group=integer(
        says="Into how many groups the channels are divided",
        name="num_groups",
        least=1,
        sample=lambda known: 2 - known["C"][0] % 2,
    ),
    eps=real(1e-5, "Added to the variance", above=0),
    out=result("T N C space*", "The normalized tensor"),
    meanOut=result("T N num_groups", "The mean of each group", fill=0.0),
    rstdOut=result("T N num_groups", "``1 / sqrt(variance + eps)`` of each group", fill=nan),
    about={
        "python": "input num_groups weight bias eps",
        "order": "ndarsfe",
        "barred": "NHWC HWCN NDHWC",
        "compared": ("self^ out^ out meanOut rstdOut N C HxW gamma beta"),
        "refuse": lambda values: (
            (
                "num_groups",
                str(values["num_groups"]),
                f"a divisor of {values['C'][0]}, the number of channels of 'input'",
            )
            if values["C"][0] % values["num_groups"]
            else None
        ),
        "source": "CANN: ops-nn norm/group_norm",
    },
)
