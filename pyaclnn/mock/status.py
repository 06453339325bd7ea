# SPDX-License-Identifier: Apache-2.0
"""Status codes the device process answers with."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Status"]


class Status(IntEnum):
    """Codes of ``aclnnStatus`` and ``aclError`` (CANN: opbase opdev/op_errno.h, runtime acl_rt.h).

    ``MOCK_NOT_IMPLEMENTED`` is the simulated NPU's own and no code of CANN.
    """

    SUCCESS = 0
    PARAM_NULLPTR = 161001
    PARAM_INVALID = 161002
    DEVICE_SETUP_ERROR = 507033
    AICORE_EXCEPTION = 507015
    INNER = 561000
    INNER_TILING = 561002
    INNER_FIND_KERNEL = 561003
    INNER_NULLPTR = 561103
    MOCK_NOT_IMPLEMENTED = 999001
