# SPDX-License-Identifier: Apache-2.0
"""Codes x61xxx: the two phases of operators (CANN: opbase, opdev/op_errno.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import InvalidArgumentError, UnsupportedError
from pyaclnn.facts.explanations.entry import says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["OPERATORS"]

_SUCCESS: Final = says("Nothing failed.", do="nothing needs to be done.")
_ARGUMENTS: Final = "compare the arguments with the operator's documentation."
_SHAPES: Final = (
    "the operator refused the shapes or attributes; compare them with its documentation."
)
_INSTALL: Final = (
    "the operator package of this chip is missing or damaged; install the one that matches this "
    "CANN version and source its set_env.sh."
)
_CUSTOM: Final = "build the custom operator package again with this CANN."
_DAMAGED: Final = "the operator package is damaged, or of another CANN version"
_OTHER_CANN: Final = "a custom operator package that was built for another CANN"

OPERATORS: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_NONE": _SUCCESS,
    "ACLNN_SUCCESS": _SUCCESS,
    "ACLNN_ERR_PARAM_NULLPTR": says(
        "An argument that must be there is NULL.",
        "a required tensor was left out",
        "the pointer for the workspace's size or for the executor is NULL",
        do=_ARGUMENTS,
        raises=InvalidArgumentError,
    ),
    "ACLNN_ERR_PARAM_INVALID": says(
        "The operator does not accept one of its arguments.",
        "a data type or format that it does not support on this chip",
        "shapes that do not fit together",
        "a workspace smaller than phase 1 asked for",
        do=_ARGUMENTS,
        raises=InvalidArgumentError,
    ),
    "ACLNN_ERR_RUNTIME_ERROR": says(
        "A call to the runtime inside the operator failed.",
        "the stream's device was closed or lost",
        "no device is current on this thread",
        do="a runtime call inside the operator failed; is the device of the stream still usable?",
    ),
    "ACLNN_ERR_INNER": says(
        "The operator failed inside, without saying more by its code.",
        _OTHER_CANN,
        _DAMAGED,
        do="read CANN's text for this failure; its log (plog) may say more.",
    ),
    "ACLNN_ERR_INNER_INFERSHAPE_ERROR": says(
        "The operator could not work out the shape of its result.",
        "shapes that do not fit together",
        do=_SHAPES,
        raises=InvalidArgumentError,
    ),
    "ACLNN_ERR_INNER_TILING_ERROR": says(
        "The operator found no way to divide the work among the cores.",
        "shapes or attributes that it does not support",
        "operator packages of another version than the toolkit",
        do=_SHAPES,
        raises=InvalidArgumentError,
    ),
    "ACLNN_ERR_INNER_FIND_KERNEL_ERROR": says(
        "There is no kernel for this operator on this chip with these data types.",
        "the operator package of this chip is not installed, or another chip's is",
        "the operator does not support these data types on this chip",
        do="no kernel for this chip and these dtypes; " + _INSTALL,
        raises=UnsupportedError,
    ),
    "ACLNN_ERR_INNER_CREATE_EXECUTOR": says(
        "The executor of the call could not be made.",
        "the host's memory is exhausted",
        _OTHER_CANN,
        do=_CUSTOM,
    ),
    "ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR": says(
        "The operator's own code did not hand over its executor.",
        "a mistake in a custom operator's phase 1",
        _OTHER_CANN,
        do=_CUSTOM,
    ),
    "ACLNN_ERR_INNER_NULLPTR": says(
        "Something inside the operator is NULL that must not be.",
        "an executor that is NULL or was consumed already",
        "a CANN that does not fit the driver or the chip",
        do="use each executor once, unless it was made repeatable.",
    ),
    "ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE": says(
        "The operator's attributes are not as many as its description says.",
        _OTHER_CANN,
        do=_CUSTOM,
    ),
    "ACLNN_ERR_INNER_KEY_CONFLICT": says(
        "Two kernels of the operator have the same key.",
        "two operator packages contain the same operator",
        do="keep one of the packages: ASCEND_CUSTOM_OPP_PATH and the vendors folder name them.",
    ),
    "ACLNN_ERR_INNER_INVALID_IMPL_MODE": says(
        "The operator's kernel has no such precision mode.",
        "a mode was set that this operator does not have",
        do="leave the mode at its default.",
    ),
    "ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND": says(
        "The folder of operators was not found.",
        "set_env.sh was not sourced: ASCEND_HOME_PATH or ASCEND_OPP_PATH is missing",
        "this user may not read the folder",
        do=_INSTALL,
        raises=UnsupportedError,
    ),
    "ACLNN_ERR_INNER_LOAD_JSON_FAILED": says(
        "A kernel's description could not be read.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND": says(
        "A kernel's description lacks an entry.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_JSON_FORMAT_INVALID": says(
        "A kernel's description names an unknown format.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_JSON_DTYPE_INVALID": says(
        "A kernel's description names an unknown data type.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND": says(
        "The package that contains the kernels was not loaded.",
        "it is not installed: up to CANN 8.3 Ascend-cann-kernels-CHIP, since 8.5 "
        "Ascend-cann-CHIP-ops",
        "it was removed by an upgrade of the toolkit",
        do=_INSTALL,
        raises=UnsupportedError,
    ),
    "ACLNN_ERR_INNER_OP_FILE_INVALID": says(
        "A kernel's binary could not be read.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND": says(
        "The operator has more attributes than are possible.", _OTHER_CANN, do=_CUSTOM
    ),
    "ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH": says(
        "The room for the operator's attributes is too small.", _OTHER_CANN, do=_CUSTOM
    ),
    "ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE": says(
        "A kernel's description names more inputs than the call has.",
        _OTHER_CANN,
        do=_CUSTOM,
    ),
    "ACLNN_ERR_INNER_INPUT_JSON_IS_NULL": says(
        "A kernel's description names no inputs.", _DAMAGED, do=_INSTALL
    ),
    "ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID": says(
        "The workspace in a kernel's description is not possible.",
        _DAMAGED,
        _OTHER_CANN,
        do=_INSTALL,
    ),
    "ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID": says(
        "The number of cores in a kernel's description is not possible.",
        "the kernels are another chip's",
        _DAMAGED,
        do=_INSTALL,
    ),
    "MOCK_NOT_IMPLEMENTED": says(
        "The simulated NPU declares this function but does not imitate it.",
        "the program uses a part of CANN that the simulated NPU does not compute",
        do="give the simulated NPU a kernel of your own, in one of the ways that the text names, "
        "or run it on real hardware.",
        raises=UnsupportedError,
    ),
}
