# SPDX-License-Identifier: Apache-2.0
"""A fault of a function that CANN does not have is refused, wherever it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock.control.functions import functions
from pyaclnn.mock.protocol.fault_functions import require_functions

if TYPE_CHECKING:
    from tests.mock_libs.programs import Programs

REFUSAL = "'aclrtMallocc=207001' is no fault: CANN has no such function; did you mean aclrtMalloc?"


def test_every_exported_function_may_be_named() -> None:
    """Except those of mstx, which have no status to fail with."""
    exported = [one for one in functions() if one.library != "libms_tools_ext.so"]
    names = [one.name for one in exported if not one.name.startswith("mock_")]
    assert len(names) > 1500
    require_functions(";".join(f"{name}:1=207001" for name in names))


@pytest.mark.parametrize(
    ("fault", "question"),
    [
        ("aclrtMaloc=207001", "did you mean aclrtMalloc?"),
        ("ACLRTMALLOC@1:3+=207001", "did you mean aclrtMalloc?"),
        ("seed=7; aclnnRmsNrom:*2 = async:507015", "did you mean aclnnRmsNorm?"),
        ("aclnnRmsNorm=wrong\nHcclAlReduce=1", "did you mean HcclAllReduce?"),
        ("malok*=1", "`pyaclnn mock functions` lists them"),
    ],
)
def test_a_function_that_does_not_exist_is_refused(fault: str, question: str) -> None:
    with pytest.raises(ValueError, match="is no fault: CANN has no such function; ") as caught:
        require_functions(fault)
    assert str(caught.value).endswith(question)


@pytest.mark.parametrize("fault", ["", "memory=5", "aclrt*Async:p0.1=1", "acl[no]n*=1", "nothing"])
def test_settings_wildcards_and_the_malformed_are_not(fault: str) -> None:
    require_functions(fault)


def test_an_operator_of_a_package_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", "/opt/vendor")
    require_functions("aclnnAddCustom=561103")
    with pytest.raises(ValueError, match="no such function"):
        require_functions("aclrtMaloc=207001")


def test_the_fixture_refuses_it_at_once_and_changes_nothing(programs: Programs) -> None:
    result = programs.python("""
import pyaclnn.mock as mock
from pyaclnn.pytest_plugin.fault_injection import FaultInjection
mock.set_faults('aclrtGetRunMode=507899')
try:
    FaultInjection().replace('aclrtMallocc=207001')
except ValueError as error:
    print(error, lib.aclrtGetRunMode(ffi.new('aclrtRunMode *')))
""")
    assert result.stdout == f"{REFUSAL} 507899\n", result.stderr


def test_the_device_does_not_start_with_such_a_fault_in_the_environment(programs: Programs) -> None:
    result = programs.python(
        "print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_FAULTS="aclrtMallocc=207001"
    )
    assert result.stdout.startswith("507033 ")
    assert f"PYACLNN_MOCK_FAULTS: {REFUSAL}" in result.stdout
