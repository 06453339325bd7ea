# SPDX-License-Identifier: Apache-2.0
"""Codes x45xxx: the graph engine, for offline models (CANN: acl/error_codes/ge_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import ContextError, DeadlineError, InvalidArgumentError, OutOfMemoryError
from pyaclnn.facts.explanations.entry import LOG, REBUILD, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["GRAPH_ENGINE"]

_MODEL_ID: Final = "use the number that the load returned, before the model is unloaded."
_DYNAMIC: Final = "ask the model's description which dynamic sizes it offers."
_AIPP: Final = "compare with the AIPP configuration the model was converted with."
_OTHER_VERSION: Final = "the model was made for another CANN version or chip"

GRAPH_ENGINE: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_GE_PARAM_INVALID": says(
        "The graph engine was given an argument that it cannot take.",
        "a NULL pointer or a count of 0",
        do="compare the arguments with the function's documentation.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_NOT_INIT": says(
        "The graph engine is not initialised.",
        "aclInit was not called, or the runtime was finalised",
        do="call aclInit first.",
        raises=ContextError,
    ),
    "ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID": says(
        "The model's path cannot be used.",
        "the file does not exist, or this user may not read it",
        do="check the path, and that this user can read it.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_MODEL_ID_INVALID": says(
        "There is no loaded model of that number.",
        "the model was unloaded",
        do=_MODEL_ID,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID": says(
        "The size of the model's data is wrong.",
        "the file is truncated",
        do="compare the file's size with that of the original.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID": says(
        "The address of the model's data is wrong.",
        "NULL, or memory that was freed",
        do="keep the model's data alive until it is loaded.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID": says(
        "A queue given for the model does not exist, or their number is wrong.",
        "a queue that was destroyed",
        do="give one living queue for each input and output of the model.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED": says(
        "The model is loaded already.",
        "the load ran twice with the same number",
        do=_MODEL_ID,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID": says(
        "The memory for dynamic sizes is wrong.",
        "another input's memory was passed",
        do=_DYNAMIC,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID": says(
        "The memory for dynamic sizes has the wrong length.",
        "another input's memory was passed",
        do=_DYNAMIC,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID": says(
        "The model does not offer this dynamic size.",
        "a size that it was not converted for",
        do=_DYNAMIC,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_AIPP_BATCH_EMPTY": says(
        "The image preprocessing has a batch of 0.",
        "its parameters were not filled in",
        do=_AIPP,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_AIPP_NOT_EXIST": says(
        "The model's input has no image preprocessing.",
        "it was converted without, or this is another input",
        do=_AIPP,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_AIPP_MODE_INVALID": says(
        "The model's image preprocessing is of another mode.",
        "static parameters for a dynamic one, or the other way round",
        do=_AIPP,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_OP_TASK_TYPE_INVALID": says(
        "The model contains a task of an unknown kind.", _OTHER_VERSION, do=REBUILD
    ),
    "ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID": says(
        "The model contains a kernel of an unknown kind.", _OTHER_VERSION, do=REBUILD
    ),
    "ACL_ERROR_GE_PLGMGR_PATH_INVALID": says(
        "The folder of the graph engine's plugins cannot be used.",
        "the installation is incomplete, or this user may not read it",
        do="source set_env.sh of the installation and check that this user can read it.",
    ),
    "ACL_ERROR_GE_FORMAT_INVALID": says(
        "A tensor's format is not possible here.",
        "a private format on an input that has none",
        do="describe the tensor as the model's description says.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_SHAPE_INVALID": says(
        "A tensor's shape is not possible here.",
        "a dimension that differs from the model's",
        do="describe the tensor as the model's description says.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_DATATYPE_INVALID": says(
        "A tensor's data type is not possible here.",
        "a type that differs from the model's",
        do="describe the tensor as the model's description says.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_MEMORY_ALLOCATION": says(
        "The graph engine could not allocate memory.",
        "the device's memory is used up, by this process or another",
        do="release device arrays that are no longer needed, or see who else uses this device.",
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_GE_MEMORY_OPERATE_FAILED": says(
        "The graph engine could not copy or set memory on the host.",
        "a buffer that is too small",
        do=LOG,
    ),
    "ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED": says(
        "The graph engine could not copy or set memory on the device.",
        "a buffer that was freed too early",
        do=LOG,
    ),
    "ACL_ERROR_GE_SUBHEALTHY": says(
        "The deployment runs, but one of its parts does not.",
        "a device or a process of it failed",
        do="look at `npu-smi info` on every machine of the deployment.",
    ),
    "ACL_ERROR_GE_USER_RAISE_EXCEPTION": says(
        "A function of the program's own, inside the graph, reported an error.",
        "that function's own reasons",
        do="look at what the function reported.",
    ),
    "ACL_ERROR_GE_DATA_NOT_ALIGNED": says(
        "Data from several sources does not belong to the same step.",
        "one source lost or repeated an item",
        do="see that every source delivers each step once.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_GE_INTERNAL_ERROR": says(
        "The graph engine failed inside, without saying more by its code.",
        _OTHER_VERSION,
        do=LOG,
    ),
    "ACL_ERROR_GE_LOAD_MODEL": says(
        "The model could not be loaded.",
        _OTHER_VERSION,
        "the device's memory does not suffice",
        do=REBUILD,
    ),
    "ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED": says(
        "The model's structure could not be read.", _OTHER_VERSION, do=REBUILD
    ),
    "ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED": says(
        "The model's weights could not be read.", "the file is truncated", do=REBUILD
    ),
    "ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED": says(
        "The model's tasks could not be read.", _OTHER_VERSION, do=REBUILD
    ),
    "ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED": says(
        "The model's kernels could not be read.", _OTHER_VERSION, do=REBUILD
    ),
    "ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA": says(
        "The model's memory could not be released.",
        "the device failed or was reset before",
        do="unload models before the device is reset.",
    ),
    "ACL_ERROR_GE_COMMAND_HANDLE": says(
        "A command for dumping or profiling failed in the graph engine.",
        "a wrong configuration",
        do="correct the JSON file given to aclInit; its keys are in CANN's documentation.",
    ),
    "ACL_ERROR_GE_GET_TENSOR_INFO": says(
        "The description of one of the model's tensors could not be read.",
        _OTHER_VERSION,
        do=REBUILD,
    ),
    "ACL_ERROR_GE_UNLOAD_MODEL": says(
        "The model could not be unloaded.",
        "it is still running, or was unloaded before",
        do="synchronize first, and unload once.",
    ),
    "ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT": says(
        "The model did not finish in the time given.",
        "an input that never came, or a kernel that hangs",
        do="wait with more time; if it never ends, find the operator in the device log.",
        raises=DeadlineError,
    ),
    "ACL_ERROR_GE_REDEPLOYING": says(
        "The deployment is being set up again after a failure.",
        "a device or a process of it failed",
        do="try again when it is ready.",
    ),
}
