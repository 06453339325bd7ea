# SPDX-License-Identifier: Apache-2.0
"""Ranks of a communicator that do what they are told; it stands alone, as a process of its own.

Standard input says what, as JSON: how many ranks there are, which are here, the file by which root
information goes from process to process (or null: init-all), how many processes there are, and
steps. A step is a list of calls that are made, one after the other, before all streams here are
synchronized. A call has the rank, the function, its arguments, and in hex what lies in its two
buffers; that of an operator has its arguments alone, with tensors as shapes, types and contents.
What came of each is printed, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["main"]

_HUGE_FIRST, _TO_DEVICE, _TO_HOST = 0, 1, 2
_ROOM = 4096
_ROOT_INFO = 4108
_NAME = 128
_ND = 2


class Ranks:
    """The ranks of this process, rank r on device r.

    Args:
        told: What standard input has said.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.acl = ctypes.CDLL("libascendcl.so", mode=ctypes.RTLD_GLOBAL)
        self.hccl = ctypes.CDLL("libhccl.so")
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.here: list[int] = told["here"]
        self.streams: dict[int, ctypes.c_void_p] = {}
        self.buffers: dict[int, dict[str, ctypes.c_void_p]] = {}
        self.comms: dict[int, ctypes.c_void_p] = {}
        self.must(self.acl.aclInit(None))
        for rank in self.here:
            self.must(self.acl.aclrtSetDevice(rank))
            stream = self.streams[rank] = ctypes.c_void_p()
            self.must(self.acl.aclrtCreateStream(ctypes.byref(stream)))
            self.buffers[rank] = {}
            for name in ("send", "receive"):
                buffer = self.buffers[rank][name] = ctypes.c_void_p()
                room = ctypes.c_size_t(_ROOM)
                self.must(self.acl.aclrtMalloc(ctypes.byref(buffer), room, _HUGE_FIRST))
        self.joined = self.join(told["ranks"], told.get("root_info"), told.get("processes", 1))

    def must(self, status: int) -> None:
        """Look at a status."""
        if status:
            raise RuntimeError(f"{status}: {self.text()}")

    def text(self) -> str:
        """The text of the last failure."""
        return (self.acl.aclGetRecentErrMsg() or b"").decode()

    def join(self, ranks: int, root_info: str | None, processes: int) -> int:
        """Become the ranks of a communicator."""
        if root_info is None:
            devices = (ctypes.c_int32 * ranks)(*range(ranks))
            comms = (ctypes.c_void_p * ranks)()
            status: int = self.hccl.HcclCommInitAll(ranks, devices, comms)
            self.comms = {rank: ctypes.c_void_p(comm) for rank, comm in enumerate(comms)}
            return status
        (rank,) = self.here
        info, path = ctypes.create_string_buffer(_ROOT_INFO), Path(root_info)
        # Those that come at all come at once: how long a group waits begins with the first.
        path.with_suffix(f".{rank}").touch()
        for other in range(processes):
            wait_for(path.with_suffix(f".{other}"))
        if rank == 0:
            self.must(self.hccl.HcclGetRootInfo(info))
            path.with_suffix(".part").write_bytes(info.raw)
            path.with_suffix(".part").rename(path)
        else:
            wait_for(path)
            info.raw = path.read_bytes()
        comm = self.comms[rank] = ctypes.c_void_p()
        joined: int = self.hccl.HcclCommInitRootInfo(ranks, info, rank, ctypes.byref(comm))
        return joined

    def fill(self, rank: int, buffer: str, content: str) -> None:
        """Put bytes into a buffer."""
        data = bytes.fromhex(content)
        size = ctypes.c_size_t(_ROOM)
        self.must(
            self.acl.aclrtMemcpy(
                self.buffers[rank][buffer], size, data, ctypes.c_size_t(len(data)), _TO_DEVICE
            )
        )

    def call(self, told: dict[str, Any]) -> dict[str, Any]:
        """Make a call."""
        rank = told["rank"]
        self.must(self.acl.aclrtSetDevice(rank))
        if told["function"].startswith("aclnn"):
            return self.operate(rank, told)
        for name in ("send", "receive"):
            self.fill(rank, name, told[name])
        known = {"comm": self.comms[rank], "stream": self.streams[rank], **self.buffers[rank]}
        given: list[Any] = []
        for argument in told["arguments"]:
            if isinstance(argument, list):
                given.append((ctypes.c_uint64 * len(argument))(*argument))
            else:
                given.append(known.get(argument) or ctypes.c_uint64(argument))
        status = getattr(self.hccl, told["function"])(*given)
        return {"status": status, "text": self.text() if status else ""}

    def operate(self, rank: int, told: dict[str, Any]) -> dict[str, Any]:
        """Run an operator of the group."""
        name = ctypes.create_string_buffer(_NAME)
        self.must(self.hccl.HcclGetCommName(self.comms[rank], name))
        opapi = ctypes.CDLL("libopapi.so")
        given: list[Any] = []
        for argument in told["arguments"]:
            if isinstance(argument, dict):
                given.append(self.tensor(argument))
            elif isinstance(argument, float):
                given.append(ctypes.c_double(argument))
            elif isinstance(argument, str):
                text = name.value if argument == "group" else argument.encode()
                given.append(ctypes.c_char_p(text))
            else:
                given.append(ctypes.c_void_p(argument) if argument is None else argument)
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        first = getattr(opapi, told["function"] + "GetWorkspaceSize")
        first.argtypes = [
            ctypes.c_int64 if isinstance(value, int) else type(value) for value in given
        ] + [ctypes.c_void_p] * 2
        status = first(*given, ctypes.byref(size), ctypes.byref(executor))
        if status == 0:
            run = getattr(opapi, told["function"])
            status = run(None, ctypes.c_uint64(0), executor, self.streams[rank])
        return {"status": status, "text": self.text() if status else ""}

    def tensor(self, told: dict[str, Any]) -> Any:
        """Make a tensor, with its content."""
        content = bytes.fromhex(told["content"])
        address, size = ctypes.c_void_p(), ctypes.c_size_t(max(len(content), 1))
        self.must(self.acl.aclrtMalloc(ctypes.byref(address), size, _HUGE_FIRST))
        self.must(self.acl.aclrtMemcpy(address, size, content, len(content), _TO_DEVICE))
        told["address"] = address.value
        dims = (ctypes.c_int64 * len(told["dims"]))(*told["dims"])
        rank = ctypes.c_uint64(len(dims))
        base = ctypes.CDLL("libnnopbase.so")
        base.aclCreateTensor.restype = ctypes.c_void_p
        return ctypes.c_void_p(
            base.aclCreateTensor(
                *(dims, rank, told["type"], None, ctypes.c_int64(0)), *(_ND, dims, rank, address)
            )
        )

    def finish(self, told: dict[str, Any], answer: dict[str, Any]) -> None:
        """Wait for a call, and see what it has received."""
        rank = told["rank"]
        self.must(self.acl.aclrtSetDevice(rank))
        answer["synchronized"] = self.acl.aclrtSynchronizeStream(self.streams[rank])
        answer["text"] = answer["text"] or (self.text() if answer["synchronized"] else "")
        error = ctypes.c_int(-1)
        self.must(self.hccl.HcclGetCommAsyncError(self.comms[rank], ctypes.byref(error)))
        answer["error"] = error.value
        tensors = [each for each in told["arguments"] if isinstance(each, dict)]
        answer["tensors"] = [self.content(each) for each in tensors if "address" in each]
        for name in () if tensors else ("send", "receive"):
            size = ctypes.c_size_t(len(told[name]) // 2)
            data = ctypes.create_string_buffer(size.value)
            self.must(self.acl.aclrtMemcpy(data, size, self.buffers[rank][name], size, _TO_HOST))
            answer[name] = data.raw.hex()

    def content(self, told: dict[str, Any]) -> str:
        """Return the bytes of a tensor in hex, and free it."""
        size, address = ctypes.c_size_t(len(told["content"]) // 2), ctypes.c_void_p(told["address"])
        data = ctypes.create_string_buffer(size.value)
        self.must(self.acl.aclrtMemcpy(data, size, address, size, _TO_HOST))
        self.must(self.acl.aclrtFree(address))
        return data.raw.hex()

    def close(self) -> None:
        """Give everything back."""
        for rank in self.here:
            self.must(self.hccl.HcclCommDestroy(self.comms[rank]))
            self.must(self.acl.aclrtSetDevice(rank))
            self.must(self.acl.aclrtDestroyStream(self.streams[rank]))
            for buffer in self.buffers[rank].values():
                self.must(self.acl.aclrtFree(buffer))
            self.must(self.acl.aclrtResetDeviceForce(rank))
        self.must(self.acl.aclFinalize())


def wait_for(path: Path) -> None:
    """Wait for a file."""
    while not path.exists():
        time.sleep(0.01)


def main() -> None:
    """Do what standard input says."""
    told = json.load(sys.stdin)
    ranks = Ranks(told)
    result: dict[str, Any] = {"joined": ranks.joined, "text": ranks.text(), "answers": []}
    for step in told["steps"] if ranks.joined == 0 else ():
        if step == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(step, dict) and "wait" in step:
            wait_for(Path(step["wait"]))
            continue
        if isinstance(step, dict):
            Path(step["tell"]).touch()
            continue
        queued = step[:-1] if step[-1] == "go on" else step
        answers = [ranks.call(call) for call in queued]
        result["answers"] += answers
        for call, answer in zip(queued, answers, strict=True):
            if queued is step:
                ranks.finish(call, answer)
    if ranks.joined == 0:
        ranks.close()
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
