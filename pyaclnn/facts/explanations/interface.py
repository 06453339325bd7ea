# SPDX-License-Identifier: Apache-2.0
"""Codes 100xxx and 148xxx: what the host interface of CANN refuses (CANN: acl/acl_base.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import ContextError, DeadlineError, InvalidArgumentError, UnsupportedError
from pyaclnn.facts.explanations.entry import REBUILD, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["INTERFACE"]

_DESCRIBE: Final = "compare the call with the description that the model or operator gives."
_REGISTER: Final = "register the kernel or selector exactly once, before the operator runs."
_OFFLINE: Final = "check that the offline model directory names this operator with these shapes."
_CONFIG: Final = "correct the JSON file given to aclInit; its keys are in CANN's documentation."
_ORDER: Final = "pair each start with exactly one stop, in that order."

INTERFACE: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_INVALID_PARAM": says(
        "A function of the host interface was given an argument that it cannot take.",
        "a NULL pointer or a size of 0 where something must stand",
        "an enumeration value that this version does not know",
        "aclInit called again with another configuration than the first time",
        do="compare the arguments of the call with the function's documentation.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_UNINITIALIZE": says(
        "The function needs an initialised runtime, and there is none.",
        "aclInit was not called, or did not succeed",
        "somebody else in the process called aclFinalize",
        do="call aclInit first, or see who finalised the runtime.",
        raises=ContextError,
    ),
    "ACL_ERROR_REPEAT_INITIALIZE": says(
        "The runtime is initialised already; nothing is wrong with it.",
        "another library of the process, such as torch_npu, called aclInit first",
        do="treat it as success and leave aclFinalize to the one who came first.",
        raises=ContextError,
    ),
    "ACL_ERROR_INVALID_FILE": says(
        "A file could not be opened or is not what it should be.",
        "the path given to aclInit or to a model function does not exist",
        "this user may not read it",
        "ASCEND_HOME_PATH is not set or points to another version's folder",
        do="check the path, and that this user can read it.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_WRITE_FILE": says(
        "A file could not be written.",
        "the disk is full",
        "the folder does not exist or this user may not write to it",
        do="check the space and the permissions of the folder named in CANN's log.",
    ),
    "ACL_ERROR_INVALID_FILE_SIZE": says(
        "A file is empty or larger than allowed.",
        "an interrupted copy",
        do="compare the file's size with that of the original.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_PARSE_FILE": says(
        "A configuration file is not well-formed.",
        "a syntax error in the JSON",
        "brackets nested more than ten deep",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_FILE_MISSING_ATTR": says(
        "A configuration file lacks a key that must be there.",
        "the file was written for another CANN version",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_FILE_ATTR_INVALID": says(
        "A key of a configuration file has a value that it cannot have.",
        "a number written as text, or a path that does not exist",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_INVALID_DUMP_CONFIG": says(
        "The section about dumping tensors is wrong.",
        "the dump path is missing or not writable",
        "a mode or level that this version does not know",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_INVALID_PROFILING_CONFIG": says(
        "The section about profiling is wrong.",
        "the output folder is missing or not writable",
        "a metric that this chip does not have",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_INVALID_MODEL_ID": says(
        "There is no loaded model of that number.",
        "the model was unloaded",
        "the number comes from a load that failed",
        do="use the number that the load returned, before the model is unloaded.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_DESERIALIZE_MODEL": says(
        "A model file could not be read back into a model.",
        "it was made for another CANN version or chip",
        "it is truncated",
        do=REBUILD,
    ),
    "ACL_ERROR_PARSE_MODEL": says(
        "A model file is not well-formed.",
        "it is truncated, or no offline model at all",
        do=REBUILD,
    ),
    "ACL_ERROR_READ_MODEL_FAILURE": says(
        "A model file could not be read.",
        "it does not exist, or this user may not read it",
        do="check the path, and that this user can read it.",
    ),
    "ACL_ERROR_MODEL_SIZE_INVALID": says(
        "The size given for a model is not the model's.",
        "the file is truncated",
        "the size of another file was passed",
        do="pass the size of the very file or buffer that holds the model.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_MODEL_MISSING_ATTR": says(
        "A model lacks an attribute that the runtime needs.",
        "it was converted by an older ATC",
        do=REBUILD,
    ),
    "ACL_ERROR_MODEL_INPUT_NOT_MATCH": says(
        "The inputs given are not those of the model.",
        "their number, sizes or shapes differ",
        do=_DESCRIBE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_MODEL_OUTPUT_NOT_MATCH": says(
        "The outputs given are not those of the model.",
        "their number or sizes differ",
        do=_DESCRIBE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_MODEL_NOT_DYNAMIC": says(
        "A dynamic batch, size or dimension was set on a model that has none.",
        "the model was converted for fixed shapes",
        do="convert the model with dynamic shapes, or do not set them.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_OP_TYPE_NOT_MATCH": says(
        "The operator type asked for is not that of the compiled operator.",
        "a misspelt name",
        "a directory of offline operators that belong to another program",
        do=_OFFLINE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_OP_INPUT_NOT_MATCH": says(
        "The inputs are not those of the compiled operator.",
        "their number, shapes, dtypes or formats differ",
        do=_OFFLINE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_OP_OUTPUT_NOT_MATCH": says(
        "The outputs are not those of the compiled operator.",
        "their number, shapes, dtypes or formats differ",
        do=_OFFLINE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_OP_ATTR_NOT_MATCH": says(
        "The attributes are not those of the compiled operator.",
        "an attribute is missing or has another value",
        do=_OFFLINE,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_OP_NOT_FOUND": says(
        "No compiled operator fits the call.",
        "aclopSetModelDir was not called, or names another folder",
        "no operator was compiled for these shapes and dtypes",
        do=_OFFLINE,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_OP_LOAD_FAILED": says(
        "A compiled operator could not be loaded.",
        "it was compiled for another chip or CANN version",
        do="compile the operator again with the CANN that loads it.",
    ),
    "ACL_ERROR_UNSUPPORTED_DATA_TYPE": says(
        "A data type is not supported here.",
        "the chip has no such type, e.g. bfloat16 on older chips",
        do="use a data type that the function's documentation lists for this chip.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_FORMAT_NOT_MATCH": says(
        "A tensor's format is not the one that is needed.",
        "a private format such as FRACTAL_NZ where ND is expected",
        do="describe the tensor as ND, or convert it to the format asked for.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED": says(
        "The operator has no function that selects its kernel.",
        "the registration was left out, or failed",
        do=_REGISTER,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_KERNEL_NOT_FOUND": says(
        "The kernel that was selected is not registered.",
        "the selector returned another name than was registered",
        do=_REGISTER,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED": says(
        "The operator has a selecting function already.",
        "the registration ran twice",
        do=_REGISTER,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_KERNEL_ALREADY_REGISTERED": says(
        "A kernel of that name is registered already.",
        "the registration ran twice",
        do=_REGISTER,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_INVALID_QUEUE_ID": says(
        "There is no queue of that number.",
        "the queue was destroyed, or never created",
        do="use the number that creating the queue returned.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_REPEAT_SUBSCRIBE": says(
        "The stream or thread is subscribed already.",
        "the subscription ran twice",
        do="unsubscribe first, or subscribe once.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_STREAM_NOT_SUBSCRIBE": says(
        "No thread processes the callbacks of this stream.",
        "aclrtSubscribeReport was not called for it",
        do="call aclrtSubscribeReport with the identifier of the thread that processes reports.",
        now="ACL_ERROR_RT_STREAM_NO_CB_REG",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_THREAD_NOT_SUBSCRIBE": says(
        "This thread is not subscribed to any stream.",
        "aclrtProcessReport runs on another thread than the one that was subscribed",
        do="process reports on the thread whose identifier was subscribed.",
        now="ACL_ERROR_RT_THREAD_SUBSCRIBE",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_WAIT_CALLBACK_TIMEOUT": says(
        "No callback arrived in the time given.",
        "the stream had nothing to call back",
        "work queued before the callback takes longer",
        do="the work is still queued; wait again with more time, or without a timeout.",
        now="ACL_ERROR_RT_REPORT_TIMEOUT",
        raises=DeadlineError,
    ),
    "ACL_ERROR_REPEAT_FINALIZE": says(
        "The runtime was finalised already.",
        "aclFinalize ran twice: it does not count, the first call ends everything",
        "another library of the process finalised it",
        do="let the one who called aclInit call aclFinalize, once.",
        raises=ContextError,
    ),
    "ACL_ERROR_NOT_STATIC_AIPP": says(
        "The model's input has no static image preprocessing.",
        "it was converted without, or with dynamic preprocessing",
        do="convert the model with a static AIPP configuration, or do not ask for it.",
        now="ACL_ERROR_GE_AIPP_NOT_EXIST",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_COMPILING_STUB_MODE": says(
        "The library that answered is a stub for linking, not the runtime.",
        "LD_LIBRARY_PATH names a 'stub' or 'devlib' folder before the real one",
        "the driver's libraries are missing, so that the stubs were taken instead",
        do="take 'stub' and 'devlib' folders out of LD_LIBRARY_PATH and source set_env.sh again.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_GROUP_NOT_SET": says(
        "No group of cores is chosen for this thread.",
        "aclrtSetGroup was not called",
        do="call aclrtSetGroup first.",
        now="ACL_ERROR_RT_GROUP_NOT_SET",
        raises=ContextError,
    ),
    "ACL_ERROR_GROUP_NOT_CREATE": says(
        "There is no such group of cores.",
        "the group's number is out of range on this chip",
        do="use a number below what aclrtGetGroupCount returns.",
        now="ACL_ERROR_RT_GROUP_NOT_CREATE",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_PROF_ALREADY_RUN": says(
        "Profiling runs already.", "a second start without a stop", do=_ORDER, raises=ContextError
    ),
    "ACL_ERROR_PROF_NOT_RUN": says(
        "Profiling does not run.", "a stop without a start", do=_ORDER, raises=ContextError
    ),
    "ACL_ERROR_DUMP_ALREADY_RUN": says(
        "Dumping runs already.", "a second start without a stop", do=_ORDER, raises=ContextError
    ),
    "ACL_ERROR_DUMP_NOT_RUN": says(
        "Dumping does not run.", "a stop without a start", do=_ORDER, raises=ContextError
    ),
    "ACL_ERROR_PROF_REPEAT_SUBSCRIBE": says(
        "The model's profile is subscribed to already.",
        "a second subscription without an end of the first",
        do=_ORDER,
        raises=ContextError,
    ),
    "ACL_ERROR_PROF_API_CONFLICT": says(
        "Two ways of profiling exclude each other.",
        "the program profiles itself while a tool profiles it",
        do="use one of them at a time.",
        raises=ContextError,
    ),
    "ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG": says(
        "The length of the operator queue in the configuration is not usable.",
        "it is not a positive number",
        do=_CONFIG,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_INVALID_OPP_PATH": says(
        "The folder of operators is unusable.",
        "ASCEND_OPP_PATH is not set or does not exist",
        "this user may not read it",
        do="source set_env.sh of the installation and check that this user can read its opp.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_OP_UNSUPPORTED_DYNAMIC": says(
        "The operator has no kernel for dynamic shapes.",
        "it was compiled for fixed shapes only",
        do="compile it for the shapes that are used.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED": says(
        "Something that depends on the object still exists.",
        "streams, models or queues were not released first",
        do="release in the reverse order of creation.",
        raises=ContextError,
    ),
    "ACL_ERROR_UNSUPPORTED_JPEG": says(
        "The picture's JPEG encoding is not supported by the decoder.",
        "a progressive or arithmetic-coded file, or an unusual number of components",
        do="re-encode the picture as baseline JPEG.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_INVALID_BUNDLE_MODEL_ID": says(
        "There is no bundle of models of that number.",
        "the bundle was unloaded, or the number is that of a single model",
        do="use the number that loading the bundle returned.",
        raises=InvalidArgumentError,
    ),
}
