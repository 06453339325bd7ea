# SPDX-License-Identifier: Apache-2.0
"""Values of constants, typed from the published tables and not read from the headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .stub_tree import LANGUAGES, LEVELS, compile_all

if TYPE_CHECKING:
    from pathlib import Path

    from .declared import Declared

_BOTH = {
    # acl status
    "ACL_SUCCESS": 0,
    "ACL_ERROR_NONE": 0,
    "ACL_ERROR_INVALID_PARAM": 100000,
    "ACL_ERROR_REPEAT_INITIALIZE": 100002,
    "ACL_ERROR_INVALID_FILE": 100003,
    "ACL_ERROR_REPEAT_FINALIZE": 100037,
    "ACL_ERROR_INVALID_BUNDLE_MODEL_ID": 148053,
    "ACL_ERROR_FEATURE_UNSUPPORTED": 200006,
    "ACL_ERROR_STORAGE_OVER_LIMIT": 300000,
    "ACL_ERROR_INTERNAL_ERROR": 500000,
    "ACL_ERROR_PROFILING_FAILURE": 500005,
    # runtime and graph engine status
    "ACL_ERROR_RT_PARAM_INVALID": 107000,
    "ACL_ERROR_RT_CONTEXT_NULL": 107002,
    "ACL_ERROR_RT_STREAM_NO_CB_REG": 107015,
    "ACL_ERROR_RT_INVALID_HANDLE": 107017,
    "ACL_ERROR_RT_STREAM_CAPTURED": 107027,
    "ACL_ERROR_STREAM_TASK_GROUP_INTR": 107034,
    "ACL_ERROR_RT_MEMORY_ALLOCATION": 207001,
    "ACL_ERROR_RT_NO_DEVICE": 207004,
    "ACL_ERROR_RT_DEVICE_OOM": 207018,
    "ACL_ERROR_RT_CONTEXT_RELEASE_ERROR": 507007,
    "ACL_ERROR_RT_AICORE_EXCEPTION": 507015,
    "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT": 507046,
    "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR": 507054,
    "ACL_ERROR_RT_DRV_INTERNAL_ERROR": 507899,
    "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED": 507903,
    "ACL_ERROR_GE_PARAM_INVALID": 145000,
    "ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID": 145006,
    "ACL_ERROR_GE_SUBHEALTHY": 345102,
    "ACL_ERROR_GE_REDEPLOYING": 545602,
    # operator status
    "OK": 0,
    "ACLNN_SUCCESS": 0,
    "ACLNN_ERR_PARAM_NULLPTR": 161001,
    "ACLNN_ERR_PARAM_INVALID": 161002,
    "ACLNN_ERR_RUNTIME_ERROR": 361001,
    "ACLNN_ERR_INNER": 561000,
    "ACLNN_ERR_INNER_TILING_ERROR": 561002,
    "ACLNN_ERR_INNER_NULLPTR": 561103,
    "ACLNN_ERR_INNER_KEY_CONFLICT": 561105,
    "ACLNN_ERR_INNER_KEY_CONFILICT": 561105,
    "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND": 561112,
    "ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID": 561119,
    # types and formats
    "ACL_DT_UNDEFINED": -1,
    "ACL_FLOAT": 0,
    "ACL_FLOAT16": 1,
    "ACL_INT32": 3,
    "ACL_UINT8": 4,
    "ACL_INT16": 6,
    "ACL_INT64": 9,
    "ACL_BOOL": 12,
    "ACL_COMPLEX64": 16,
    "ACL_BF16": 27,
    "ACL_INT4": 29,
    "ACL_COMPLEX32": 33,
    "ACL_FORMAT_UNDEFINED": -1,
    "ACL_FORMAT_ND": 2,
    "ACL_FORMAT_NDHWC": 27,
    "ACL_FORMAT_FRACTAL_NZ": 29,
    "ACL_FRACTAL_Z_3D": 33,
    "ACL_FORMAT_NCL": 47,
    # the runtime
    "ACL_DEVICE": 0,
    "ACL_HOST": 1,
    "ACL_MEM_MALLOC_HUGE_FIRST": 0,
    "ACL_MEM_MALLOC_HUGE1G_ONLY_P2P": 7,
    "ACL_MEM_ACCESS_USER_SPACE_READONLY": 0x100000,
    "ACL_HBM_MEM": 1,
    "ACL_MEMCPY_DEVICE_TO_HOST": 2,
    "ACL_MEMCPY_INTER_DEVICE_TO_DEVICE": 7,
    "ACL_EVENT_STATUS_COMPLETE": 0,
    "ACL_EVENT_RECORDED_STATUS_COMPLETE": 1,
    "ACL_EVENT_TIME_LINE": 8,
    "ACL_EVENT_EXTERNAL": 0x20,
    "ACL_STREAM_FAST_SYNC": 2,
    "ACL_STREAM_STATUS_RESERVED": 0xFFFF,
    "ACL_STOP_ON_FAILURE": 1,
    "ACL_CALLBACK_BLOCK": 1,
    "ACL_OPT_DETERMINISTIC": 0,
    "ACL_PKG_NAME_DRIVER": 7,
    "ACL_CANN_ATTR_UNDEFINED": -1,
    "ACL_MAJOR_VERSION": 1,
    "ACL_PATCH_VERSION": 0,
}
_NEWER = {
    "ACL_HIFLOAT8": 34,
    "ACL_FLOAT8_E4M3FN": 36,
    "ACL_FLOAT4_E1M2": 41,
    "ACL_FORMAT_FRACTAL_NZ_C0_16": 50,
    "ACL_FORMAT_FRACTAL_NZ_C0_8": 54,
    "ACL_OPT_STRONG_CONSISTENCY": 2,
    "ACL_ERROR_RT_TASK_ABORT_STOP": 107035,
    "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED": 207021,
    "ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR": 507055,
    "ACL_ERROR_RT_CCU_EXCEPTION": 507916,
    "ACL_REG_TYPE_OTHER": 0xFFFF,
    "ACL_MEM_P2P_HUGE1G": 17,
    "ACL_MEM_HANDLE_TYPE_POSIX": 2,
    "ACL_HOST_REGISTER_IOMEMORY": 4,
    "ACL_RT_MEM_ATTR_VA_FLAG": 3,
    "ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE": 204,
    "ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE": 204,
    "ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID": 403,
    "ACL_DEV_ATTR_NPU_ARCH": 601,
    "ACL_RT_ATOMIC_CAPABILITY_REDUCATION": 4,
    "ACL_STREAM_DEVICE_USE_ONLY": 0x20,
    "ACL_EVENT_IPC": 0x40,
    "ACL_HOST_REG_PINNED": 0x10000000,
    "ACL_RT_MEM_TYPE_RSVD": 0x10,
    "ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL": 13,
}
_INTERFACE_MINOR = {801: 13, 901: 17}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_constants_have_the_published_values(language: str, level: int, tmp_path: Path) -> None:
    table = {**_BOTH, "ACL_MINOR_VERSION": _INTERFACE_MINOR[level]}
    if level == 901:
        table |= _NEWER
    lines = [
        f"#define ACL_STUBS_CANN {level}",
        "#include <assert.h>",
        '#include "acl/acl.h"',
        '#include "aclnn/acl_meta.h"',
        *(f'static_assert({name} == {value}, "{name}");' for name, value in table.items()),
        "",
    ]
    compile_all(tmp_path, language, ["\n".join(lines)])


@pytest.mark.exhaustive
def test_newer_constants_are_invisible_in_the_older_release(
    everything: dict[int, Declared],
) -> None:
    assert not _NEWER.keys() & everything[801].constants
    assert _NEWER.keys() <= everything[901].constants


@pytest.mark.exhaustive
def test_a_release_takes_no_constant_away(everything: dict[int, Declared]) -> None:
    assert everything[801].constants <= everything[901].constants
