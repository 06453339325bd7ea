# SPDX-License-Identifier: Apache-2.0
"""Status codes of the device process."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from pyaclnn.mock.protocol.headers import macros

__all__ = ["Status"]


_CODES: Final = {
    **macros("acl/acl_stubs.h"),
    **macros("acl/base/status.h"),
    **macros("acl/error_codes/rt_error_codes.h"),
    **macros("opdev/op_errno.h"),
}


class Status(IntEnum):
    """Codes of ``aclnnStatus`` and ``aclError`` (CANN: opbase opdev/op_errno.h, runtime acl_rt.h).

    ``MOCK_NOT_IMPLEMENTED`` is the simulated NPU's own and no code of CANN.
    """

    SUCCESS = _CODES["ACLNN_SUCCESS"]
    PARAM_NULLPTR = _CODES["ACLNN_ERR_PARAM_NULLPTR"]
    PARAM_INVALID = _CODES["ACLNN_ERR_PARAM_INVALID"]
    DEVICE_SETUP_ERROR = _CODES["ACL_ERROR_RT_DEV_SETUP_ERROR"]
    AICORE_EXCEPTION = _CODES["ACL_ERROR_RT_AICORE_EXCEPTION"]
    INNER = _CODES["ACLNN_ERR_INNER"]
    INNER_TILING = _CODES["ACLNN_ERR_INNER_TILING_ERROR"]
    INNER_FIND_KERNEL = _CODES["ACLNN_ERR_INNER_FIND_KERNEL_ERROR"]
    INNER_NULLPTR = _CODES["ACLNN_ERR_INNER_NULLPTR"]
    GE_FAILURE = _CODES["ACL_ERROR_GE_FAILURE"]
    MOCK_NOT_IMPLEMENTED = _CODES["MOCK_NOT_IMPLEMENTED"]
