# SPDX-License-Identifier: Apache-2.0
"""The kernel of the operator of ``c/package.cpp``, as a user gives one."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyaclnn.mock


@pyaclnn.mock.operator("aclnnBlend", shrinks=True)
def blend(
    x: Any,
    parts: Any,
    stateRef: Any,  # noqa: N803  # as the package names it
    attr0: Any,
    attr1: Any,
    attr2: Any,
    attr3: Any,
    attr4: Any,
) -> Any:
    sign = -1 if attr2 else 1
    assert (attr3, attr4) == ("wide", (5, 7)), (attr3, attr4)
    out = sign * (x * np.float32(attr0) + parts[1])
    return stateRef + attr1, out[:1], [part + x for part in parts]
