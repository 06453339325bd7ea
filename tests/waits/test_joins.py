# SPDX-License-Identifier: Apache-2.0
"""Waits for other ranks: every join of a communicator, held, and each of its ends.

The process where ranks meet holds the first of them and a peer that never joins the last; a
group of some ranks is held by the rank of this process that joins it later.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.releases import NEWEST

from .held import HeldProgram
from .test_programs import BEGIN
from .waiting import waiting_functions, what_it_awaits

if TYPE_CHECKING:
    from pathlib import Path

BEGIN_JOIN = """
import ctypes, json, os, threading
LIBRARIES = pyaclnn.mock.libdir()
acl = ctypes.CDLL(str(LIBRARIES / "libascendcl.so"), mode=ctypes.RTLD_GLOBAL)
hccl = ctypes.CDLL(str(LIBRARIES / "libhccl.so"))
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
acl.aclInit(None)
assert acl.aclrtSetDevice(0) == 0
info, comm, comms = ctypes.create_string_buffer(4108), ctypes.c_void_p(), (ctypes.c_void_p * 2)()
devices, chosen = (ctypes.c_int32 * 2)(0, 1), (ctypes.c_uint32 * 2)(0, 1)
def table():
    devices = [{"device_id": str(rank), "rank_id": str(rank)} for rank in range(2)]
    path = os.environ["HELD"] + ".json"
    with open(path, "w") as file:
        json.dump({"server_count": "1", "server_list": [{"device": devices}]}, file)
    return path.encode()
def held(function, *arguments):
    begin = lambda: os.write(os.open(os.environ["HELD"], os.O_WRONLY), b"1")
    threading.Timer(0.3, begin).start()
    status = function(*arguments)
    print(status, (acl.aclGetRecentErrMsg() or b"").decode(), flush=True)
"""
JOINS = {
    "HcclCommInitRootInfo": """
assert hccl.HcclGetRootInfo(info) == 0
held(hccl.HcclCommInitRootInfo, 2, info, 0, ctypes.byref(comm))
""",
    "HcclCommInitRootInfoConfig": """
assert hccl.HcclGetRootInfo(info) == 0
held(hccl.HcclCommInitRootInfoConfig, 2, info, 0, None, ctypes.byref(comm))
""",
    "HcclCommInitAll": "held(hccl.HcclCommInitAll, 2, devices, comms)",
    "HcclCommInitClusterInfo": """
held(hccl.HcclCommInitClusterInfo, table(), 0, ctypes.byref(comm))
""",
    "HcclCommInitClusterInfoConfig": """
held(hccl.HcclCommInitClusterInfoConfig, table(), 0, None, ctypes.byref(comm))
""",
    "HcclCreateSubCommConfig": """
assert hccl.HcclCommInitAll(2, devices, comms) == 0
whole = ctypes.c_void_p(comms[0])
number = ctypes.c_uint64(1)
held(hccl.HcclCreateSubCommConfig, ctypes.byref(whole), 2, chosen, number, 0, None,
     ctypes.byref(comm))
""",
}
NEVER_MEETS = """#!/bin/sh
case "$*" in *collectives*)
  while kill -0 $PPID; do sleep 0.1; done 2>&-  # the real one ends with its last rank, too
  exit 1;;
esac
exec {python} "$@"
"""


def joining(folder: Path, name: str, **environment: str) -> HeldProgram:
    """Start a program whose join is held."""
    environment["PYACLNN_MOCK_CANN"] = NEWEST
    if name == "HcclCommInitAll":  # all its ranks are here
        python = folder / "python"
        python.write_text(NEVER_MEETS.format(python=sys.executable), encoding="utf-8")
        python.chmod(0o755)
        environment["PYACLNN_MOCK_PYTHON"] = str(python)
    return HeldProgram(folder, BEGIN + BEGIN_JOIN + JOINS[name], **environment)


def test_every_join_is_held() -> None:
    joins = {name for name in waiting_functions() if what_it_awaits(name) == ["ranks"]}
    assert joins <= set(JOINS)
    assert set(JOINS) <= {name for name in waiting_functions() if "ranks" in what_it_awaits(name)}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", JOINS)
def test_ctrl_c_ends_a_join_and_the_program(tmp_path: Path, name: str) -> None:
    with joining(tmp_path, name) as held:
        held.await_held()
        held.end(signal.SIGINT)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in JOINS if name != "HcclCommInitAll"])
def test_a_limit_ends_a_join(tmp_path: Path, name: str) -> None:
    with joining(tmp_path, name, HCCL_CONNECT_TIMEOUT="2") as held:
        held.await_held()
        status, out = held.end()
    assert status == 0
    assert not out.startswith("0 "), out
    assert "did not come" in out, out


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", JOINS)
def test_the_death_of_the_process_where_ranks_meet_ends_a_join(tmp_path: Path, name: str) -> None:
    with joining(tmp_path, name) as held:
        held.await_held()
        held.kill_others()
        status, out = held.end()
    assert status == 0, held.errors()
    assert not out.startswith("0 "), out
