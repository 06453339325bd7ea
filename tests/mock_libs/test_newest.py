# SPDX-License-Identifier: Apache-2.0
"""Functions of a simulated CANN 9.1 beyond 8.1, called as by a linked program."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.releases import NEWEST

if TYPE_CHECKING:
    from .programs import Programs

_CALLS = """
import ctypes, json
from pyaclnn.mock import libdir
acl = ctypes.CDLL(f"{libdir()}/libacl_rt.so")
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
found = []
for name, before, kind in %r:
    value = {"str": ctypes.create_string_buffer(128), "int": ctypes.c_int32(-1),
             "long": ctypes.c_uint64(1 << 40), "": None}[kind]
    before = [ctypes.c_uint64(x) if isinstance(x, int) else x and x.encode() for x in before]
    answer = getattr(acl, name)(*before, value if kind in ("str", "") else ctypes.byref(value))
    told = None if value is None else value.value
    text = (acl.aclGetRecentErrMsg() or b"").decode()
    found.append([answer, told.decode() if isinstance(told, bytes) else told, text])
print(json.dumps(found))
"""
INVALID, NO_FILE, NO_DEVICE = 100000, 100003, 107001
# The function, what it is given before the place of its answer, the type of that; the status, and
# the answer, or a word of what it says.
CASES: dict[str, tuple[str, tuple[Any, ...], str, int, Any]] = {
    "a package's version": ("aclsysGetVersionStr", ("runtime",), "str", 0, "9.1.0"),
    "with a dash": ("aclsysGetVersionStr", ("ops-nn",), "str", 0, "9.1.0"),
    "with an underscore": ("aclsysGetVersionStr", ("ops_nn",), "str", 0, "9.1.0"),
    "as a number": ("aclsysGetVersionNum", ("runtime",), "int", 0, 90100000),
    "of no package": ("aclsysGetVersionStr", ("ops",), "str", NO_FILE, "no package 'ops'"),
    "of more than it": ("aclsysGetVersionNum", ("runtime2",), "int", NO_FILE, "'runtime2'"),
    "of NULL": ("aclsysGetVersionStr", (None,), "str", INVALID, "aclsysGetVersionStr"),
    "to NULL": ("aclsysGetVersionNum", ("driver",), "", INVALID, "aclsysGetVersionNum"),
    "what limits are rounded to": ("aclrtGetOpTimeOutInterval", (), "long", 0, 1000),
    "that to NULL": ("aclrtGetOpTimeOutInterval", (), "", INVALID, "interval is NULL"),
    "a limit, rounded up": ("aclrtSetOpExecuteTimeOutV2", (2_500_001,), "long", 0, 2_501_000),
    "one that fits": ("aclrtSetOpExecuteTimeOutV2", (2_501_000,), "long", 0, 2_501_000),
    "no limit": ("aclrtSetOpExecuteTimeOutV2", (0,), "long", 0, 0),
    "one's own device": ("aclrtGetLogicDevIdByUserDevId", (0,), "int", 0, 1),
    "another one": ("aclrtGetLogicDevIdByUserDevId", (1,), "int", 0, 3),
    "its physical number": ("aclrtGetPhyDevIdByUserDevId", (1,), "int", 0, 3),
    "one too many": ("aclrtGetPhyDevIdByUserDevId", (2,), "int", NO_DEVICE, "user's number 2"),
    "back from logical": ("aclrtGetUserDevIdByLogicDevId", (3,), "int", 0, 1),
    "back from physical": ("aclrtGetUserDevIdByPhyDevId", (1,), "int", 0, 0),
    "of an invisible one": ("aclrtGetUserDevIdByPhyDevId", (2,), "int", NO_DEVICE, "number 2"),
    "logical of physical": ("aclrtGetLogicDevIdByPhyDevId", (2,), "int", 0, 2),
    "physical of logical": ("aclrtGetPhyDevIdByLogicDevId", (4,), "int", NO_DEVICE, "number 4"),
    "a device's number to NULL": ("aclrtGetLogicDevIdByUserDevId", (0,), "", INVALID, "is NULL"),
    "a limit nobody hears of": ("aclrtSetOpExecuteTimeOutV2", (1,), "", INVALID, "is NULL"),
}


@pytest.fixture(scope="module")
def answers(programs: Programs) -> dict[str, tuple[int, Any, str]]:
    calls = [case[:3] for case in CASES.values()]
    machine = {"PYACLNN_MOCK_DEVICES": "4", "ASCEND_RT_VISIBLE_DEVICES": "1,3"}
    environment = {"PYACLNN_MOCK_CANN": NEWEST, **machine}
    done = programs.run([sys.executable, "-c", _CALLS % calls], environment)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_it_answers(case: str, answers: dict[str, tuple[int, Any, str]]) -> None:
    *_, status, expected = CASES[case]
    answer, value, text = answers[case]
    assert answer == status, text
    if status == 0:
        assert value == expected
    else:
        assert expected in text
