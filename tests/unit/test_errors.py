# SPDX-License-Identifier: Apache-2.0
"""The exception family: what it derives from, what it says, and that it travels."""

from __future__ import annotations

import pickle

import pytest

from pyaclnn.base.errors import (
    AclError,
    BackendNotFoundError,
    ContextError,
    DeadlineError,
    DeviceLostError,
    InvalidArgumentError,
    KernelError,
    MissingSymbolError,
    OutOfMemoryError,
    UnsupportedError,
    text_of,
)
from pyaclnn.cann import raw, status as codes
from pyaclnn.facts.explanations import STATUS

FAMILY = [
    (InvalidArgumentError, ValueError),
    (OutOfMemoryError, MemoryError),
    (DeadlineError, TimeoutError),
    (ContextError, RuntimeError),
    (DeviceLostError, OSError),
    (KernelError, RuntimeError),
    (UnsupportedError, RuntimeError),
    (BackendNotFoundError, OSError),
    (MissingSymbolError, AttributeError),
]

BY_CODE = [
    (100000, InvalidArgumentError, "ACL_ERROR_INVALID_PARAM"),
    (107000, InvalidArgumentError, "ACL_ERROR_RT_PARAM_INVALID"),
    (161001, InvalidArgumentError, "ACLNN_ERR_PARAM_NULLPTR"),
    (161002, InvalidArgumentError, "ACLNN_ERR_PARAM_INVALID"),
    (561002, InvalidArgumentError, "ACLNN_ERR_INNER_TILING_ERROR"),
    (107001, InvalidArgumentError, "ACL_ERROR_RT_INVALID_DEVICEID"),
    (207001, OutOfMemoryError, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
    (207008, OutOfMemoryError, "ACL_ERROR_RT_NO_STREAM_RESOURCE"),
    (507046, DeadlineError, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"),
    (507047, DeadlineError, "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT"),
    (507012, DeadlineError, "ACL_ERROR_RT_REPORT_TIMEOUT"),
    (107002, ContextError, "ACL_ERROR_RT_CONTEXT_NULL"),
    (107003, ContextError, "ACL_ERROR_RT_STREAM_CONTEXT"),
    (107017, ContextError, "ACL_ERROR_RT_INVALID_HANDLE"),
    (507010, DeviceLostError, "ACL_ERROR_RT_LOST_HEARTBEAT"),
    (507899, DeviceLostError, "ACL_ERROR_RT_DRV_INTERNAL_ERROR"),
    (507901, DeviceLostError, "ACL_ERROR_RT_SOCKET_CLOSE"),
    (507014, KernelError, "ACL_ERROR_RT_AICORE_TIMEOUT"),
    (507015, KernelError, "ACL_ERROR_RT_AICORE_EXCEPTION"),
    (507034, KernelError, "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT"),
    (507036, KernelError, "ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION"),
    (207000, UnsupportedError, "ACL_ERROR_RT_FEATURE_NOT_SUPPORT"),
    (200001, UnsupportedError, "ACL_ERROR_API_NOT_SUPPORT"),
    (200006, UnsupportedError, "ACL_ERROR_FEATURE_UNSUPPORTED"),
    (561003, UnsupportedError, "ACLNN_ERR_INNER_FIND_KERNEL_ERROR"),
    (999001, UnsupportedError, "MOCK_NOT_IMPLEMENTED"),
    (561105, AclError, "ACLNN_ERR_INNER_KEY_CONFLICT"),
    (424242, AclError, "UNKNOWN"),
]


@pytest.mark.parametrize(("kind", "builtin"), FAMILY)
def test_every_error_is_an_acl_error_and_the_builtin_of_its_meaning(
    kind: type[AclError], builtin: type[Exception]
) -> None:
    assert issubclass(kind, AclError)
    assert issubclass(kind, builtin)


@pytest.mark.parametrize(("code", "kind", "name"), BY_CODE)
def test_a_code_becomes_the_class_by_what_the_user_can_do(
    code: int, kind: type[AclError], name: str
) -> None:
    error = codes.describe_failure("aclrtSomething", code, None, {})
    assert type(error) is kind
    assert (error.code, error.name, error.routine) == (code, name, "aclrtSomething")


def test_every_explained_code_is_a_constant_of_the_headers() -> None:
    for name in set(STATUS) - {"ACLNN_SUCCESS", "MOCK_NOT_IMPLEMENTED"}:
        assert codes.meaning(getattr(raw, name)).name == name


def test_the_message_says_routine_code_name_text_arguments_and_hint() -> None:
    error = codes.describe_failure(
        "aclrtMalloc", 207001, "EL0004: out of memory", {"size": "64", "policy": "0"}
    )
    assert str(error) == (
        "aclrtMalloc failed with 207001 (ACL_ERROR_RT_MEMORY_ALLOCATION).\n"
        "CANN says: EL0004: out of memory\n"
        "Arguments:\n"
        "  size = 64\n"
        "  policy = 0\n"
        "Hint: release device arrays that are no longer needed, or see who else uses this device."
    )


def test_a_failed_runtime_call_inside_an_operator_decides_the_class_and_is_named() -> None:
    error = codes.describe_failure("aclnnRmsNorm", 361001, None, {}, 507010)
    assert type(error) is DeviceLostError
    assert (error.code, error.cause) == (361001, 507010)
    assert str(error).splitlines()[0] == (
        "aclnnRmsNorm failed with 361001 (ACLNN_ERR_RUNTIME_ERROR), because a call to the runtime "
        "inside it failed with 507010 (ACL_ERROR_RT_LOST_HEARTBEAT)."
    )


def test_a_refusal_by_the_host_says_what_the_argument_was_and_must_be() -> None:
    error = InvalidArgumentError.of("f", "x", "3", "4", "add one.")
    assert str(error) == "f(): 'x' is 3; it must be 4.\nHint: add one."
    assert (error.code, error.argument, error.given, error.expected) == (None, "x", "3", "4")


EXAMPLES = [
    codes.describe_failure("aclrtX", code, "text", {"a": "1"}) for code, _, _ in BY_CODE
] + [
    InvalidArgumentError.of("f", "x", "3", "4"),
    BackendNotFoundError("none", attempts=[("/a", "not there")]),
    MissingSymbolError("gone", symbol="aclnnX", files=[("/a", "no")], since="9.1"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: f"{type(e).__name__}-{e.code}")
def test_every_error_pickles_with_all_it_knows(error: AclError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__
    assert again.name == error.name


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("kind", [Exception, ValueError, KeyError, MemoryError, OSError])
def test_the_text_of_a_foreign_exception_never_raises(
    kind: type[Exception], failure: type[BaseException]
) -> None:
    def text(_: object) -> str:
        raise failure

    foreign = type("Foreign", (kind,), {"__str__": text})
    assert text_of(foreign()) == f"its __str__ raised {failure.__name__}"
