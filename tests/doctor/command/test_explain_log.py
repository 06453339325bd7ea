# SPDX-License-Identifier: Apache-2.0
"""Logs that people post are explained by their innermost cause."""

from __future__ import annotations

import os
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.explanations import LINES
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.explain import entry as entries
from pyaclnn.health.explain.log import Log, look_up
from tests.fork_server import run_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

POSTED = [
    (lines.replace("\\n", "\n"), word)
    for lines, word in (
        line.split("\t")
        for line in Path(__file__).with_name("lines.tsv").read_text("utf-8").splitlines()
        if not line.startswith("#")
    )
]


@pytest.mark.parametrize(("lines", "word"), POSTED, ids=[lines[:60] for lines, _ in POSTED])
def test_the_first_answer_about_posted_lines_has_the_cure(lines: str, word: str) -> None:
    first = look_up(lines)[0]
    assert word in " ".join((first.meaning, *first.causes, str(first.next_step)))


@pytest.mark.exhaustive
def test_the_index_of_patterns_loses_no_match() -> None:
    for line in (line for lines, _ in POSTED for line in lines.splitlines()):
        found = [key for key, _, _ in LINES.matches(line)]
        assert found == [key for key, known in LINES.items() if known.pattern.search(line)], line


def test_a_line_is_searched_by_few_patterns_only() -> None:
    lines = [line for text, _ in POSTED for line in text.splitlines()]
    searched = sum(len(list(LINES.near(line))) for line in lines)
    assert searched < len(lines) * len(LINES) / 20


UNKNOWN = [
    "Traceback (most recent call last):",
    "ValueError: shapes (3,) and (4,) do not fit",
    "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
    "INFO 05-21 08:30:00 [api_server.py:1] Started server process [123456]",
    "[INFO] RUNTIME(812,python):2026-05-21-08:30:00 stream synchronize, retCode=0x7020011",
    "loss 0.507015 at step 100000, 1234567 tokens",
    "[12345.678901] usb 1-1: device descriptor read/64, error -71",
    "rank 5: loss 0.5, exit criteria met, code 12, reason=[target reached]",
    "[ERROR] MindFormers: TypeError: For 'set_context', 'ascend_config' has no key 'precision'",
    "INFO 05-21 08:30:00 [config.py:1] chunked prefill is not supported, which is invalid here",
    "DEBUG: the cache must be filled, size 507011",
    "error: buffer of size 200000 over 196608",
    "Epoch 3: 100%|####| 507015/507015 [00:10<00:00]",
    "INFO: tensorboard is not installed, skipping",
    "WARNING: apex is not installed, falling back",
    "UserWarning: apex is not installed. Falling back to the slow path",
    "load /opt/cann/opp/built-in/op_impl/ai_core/tbe/config/ascend910b/add.json ok",
    "loading custom op: /opt/cann/opp/vendors/x/op_impl/ai_core/tbe/ascendc/add",
    "401 Client Error: access to model org/gated is restricted, authentication required",
    "  huawei.com/Ascend910  0           0",
    "ioctl(TIOCGWINSZ): Inappropriate ioctl for device",
    "umount: /mnt/data: the device is busy",
    "Sender checksum fail: retry TCP segment",
    "HBM UCE count: 0",
    "device 2: sdma error count 0",
    "not enough slots available in the queue",
    "converted for soc_version Ascend910B3 but not yet loaded",
    "ggml_backend_cann: allocate CANN0 buffer of 512 MiB",
    "apt: kubernetes master unreachable",
    "ethtool eth0: Link detected: no",
    "haproxy: port is down",
    '"npuDeviceIds": [[0, 1, 2, 3]], "worldSize": 4, "modelName": "qwen"',
    "stat /dev/nvidia0: no such file or directory",
    "slurmctld: node c12 unreachable",
    "adb: wait for device ready timeout",
    "The driver package has been installed successfully, reboot to use the new version",
    "available NPUs: 8, this node has 8",
    "the plugin supports custom device type 'npu'",
    "[RayletClient] connected to raylet",
    "ld: a.o: undefined reference to `testing::internal::Make(std::__cxx11::basic_string<char>)'",
    "ld: a.o: undefined reference to `fmt::v9::vformat(std::__cxx11::basic_string<char>)'",
    "ld: a.o: undefined reference to `std::__throw_bad_array_new_length()@GLIBCXX_3.4.29'",
    "curl: (35) error:0A000410:SSL routines::sslv3 alert handshake failure",
    "ssl.SSLError: [SSL: SSLV3_ALERT_HANDSHAKE_FAILURE] sslv3 alert handshake failure (_ssl.c:1)",
    "torch_npu.npu_add: dtype not compatible with torch.float16",
    "torch_npu expects torch tensors",
    "This model was converted with an older version of the exporter",
    "UserWarning: the model was generated with a newer version of transformers",
    "the kernel was built for CUDA but the device is npu:0",
    "this step requires make to be run first",
    "error: cloning this repository needs git lfs",
    "error: the bundle needs tar archive",
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_a_line_that_reports_no_known_failure_is_not_explained(line: str) -> None:
    assert Log().read([line]).entries() == []


PLACE = '  File "/x/train.py", line 3, in main'
RAISED = 'raise RuntimeError("NPU out of memory")'
TRACEBACKS = [
    ([PLACE, f"    {RAISED}"], 0),
    ([f"[rank0]: {PLACE}", f"[rank0]:     {RAISED}"], 0),
    ([PLACE.strip(), f"  {RAISED}"], 0),
    ([PLACE.strip(), RAISED], 0),
    ([PLACE.strip(), "torch.npu.check('NPU out of memory')"], 0),
    ([PLACE.strip(), "RuntimeError: NPU out of memory"], 1),
    ([PLACE, "RuntimeError: NPU out of memory"], 1),
]


@pytest.mark.parametrize(("lines", "count"), TRACEBACKS)
def test_a_source_line_of_a_traceback_is_not_explained(lines: list[str], count: int) -> None:
    assert len(Log().read(lines).entries()) == count


CHAIN = """\
[ERROR] 2026-05-21-11:57:54 (PID:927000, Device:3, RankID:3) ERR02200 DIST call hccl api failed.
EH9999: Inner Error!
        EI0006: 2026-05-21-11:57:54.167.645 Getting socket times out.
        Solution: 1. Check the rank service processes with other errors
EL0005: [PID: 12] The resources are busy.
        Possible Cause: 1. The resources have been occupied.
rtStreamSynchronize failed, retCode=0x7020010, error code is 507899
"""


def test_the_innermost_component_comes_first_and_the_general_codes_last() -> None:
    codes = [entry.heading.split()[0] for entry in look_up(CHAIN)]
    # A timeout of a rank follows from what failed below.
    assert codes[:3] == ["EL0005", "connect", "EI0006"]
    assert set(codes[3:]) == {"EH9999", "ERR02200", "507899"}


def test_the_words_of_a_message_stand_beside_its_explanation() -> None:
    words = {entry.heading.split()[0]: entry.words for entry in look_up(CHAIN)}
    assert words["EL0005"] == ("The resources are busy.", "1. The resources have been occupied.")
    assert words["EI0006"][0] == "Getting socket times out."


def test_a_line_that_comes_with_many_failures_is_explained_by_the_code_beside_it() -> None:
    alone = "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)"
    assert look_up(alone) == []
    for text in (f"{alone}\nret is -8005", f"ret is -8005\n{alone}"):
        assert [entry.heading.split()[0] for entry in look_up(text)] == ["-8005"]


def test_advice_of_a_line_is_repeated_where_nothing_else_is_known() -> None:
    line = "ValueError: the frobnicator is cold. Please install frob-kit 3.2 on each node."
    assert look_up(line)[0].next_step == "Do what it says: install frob-kit 3.2 on each node."
    assert len(look_up(f"{line}\nret is -8005")) == 1


SAID_OTHERWISE = [
    ("[ERROR] FE(7,python):2024-01-01 [a.cc:1]7 dlopen libatb.so failed", "nnal"),
    ("\tlibatb.so => not found", "nnal"),
    ("Unable to load library '/opt/x/libcudart.so.12'", "CUDA"),
    ("can not import module 'tbe'", "PYTHONPATH"),
    ("[ERROR] DRV(3,python):2024-01-01 [devmm.c:1] <errno:13, 3> Ioctl device error", "id`"),
    ("dcmi call failed, ret is 4294959276", "holds the device"),
    ("[ERROR] DRV(2,x):2025-06-02 [devmng] Ioctl failed. (ret=-1; errno=13; fd=7)", "id`"),
    ("[  331.902144] davinci_hdc 0000:c1:00.0: probe failed with error -12", "raise the limit"),
    ("mkdir /root/ascend/log/dump failed, errno=30", "read-only"),
    ("worker process exited with code -11", "do not belong together"),
    ("rank 3 exit code: -7", "--shm-size"),
    ("Process finished with exit code 132", "processor"),
    ("command terminated with exit code 143", "scheduler"),
    ("dcmi_get_device_health ret -8001", "npu-smi info -l"),
    ("[   55.001] Internal error: kernel BUG at drivers/ascend/devmm.c:201", "reboot"),
    ("hcclResult = 19 in HcclAllReduce", "hccn_tool"),
    ("[  199.120001] davinci0: probe of 0000:82:00.0 failed with error -110", "driver again"),
    ("HDC: hdcdrv_connect error, dev_id 0 remote refused, ret=-17", "npu-smi info"),
    ("rtMalloc execute failed, reason=[context pointer null]", "aclrtSetDevice"),
    ("rtKernelLaunch execute failed, reason=[kernel lookup error][FUNC:F]", "matches this chip"),
    ("rtSetDevice execute failed, reason=[invalid device ID]", "device_count() - 1"),
    ("[CRITICAL] ME(19:281,Main):2025-04-17-15:44:31 [api.py:9] init", "Ascend Error Message"),
    ("/opt/x/set_env.sh: line 3: No such file or directory", "misspelt"),
]


@pytest.mark.parametrize(("line", "cure"), SAID_OTHERWISE)
def test_an_event_is_known_in_other_words(line: str, cure: str) -> None:
    first = Log().read([line]).entries()[0]
    assert cure in " ".join((*first.causes, str(first.next_step)))


CASES = [
    ([], True, "--device /dev/davinci0"),
    (["davinci0"], True, "stop the container that holds the card"),
    ([], False, "stop the container that holds the device, or pass a free one"),
]


@pytest.mark.parametrize(("nodes", "container", "step"), CASES)
def test_the_next_step_follows_what_this_machine_shows(
    nodes: list[str], container: bool, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev").mkdir()
    for node in nodes:
        (tmp_path / "dev" / node).touch()
    if container:
        (tmp_path / ".dockerenv").touch()
    monkeypatch.setattr(entries, "_machine", lambda: Machine(root=tmp_path))
    [entry] = look_up("-8005")
    assert step.lower() in str(entry.next_step).lower()


def numbered(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"[ERROR] HCCL({number},python):2026-05-21-08:30:{number % 60:02} step {number}\n"
    yield "EI0002: The wait execution of the Notify register times out.\n"


def test_lines_that_differ_in_a_number_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(Log, "_read", lambda _, line: read.append(line))
    Log().read(f"[ERROR] step {number} failed\n" for number in (7, 123_456, 123_457, 12_345_678))
    assert read == ["[ERROR] step 7 failed\n"]
    Log().read(f"[ERROR] result {code}\n" for code in (507_011, 507_015))
    assert len(read) == 3


@pytest.mark.exhaustive
def test_memory_is_bounded_for_a_log_of_any_size() -> None:
    tracemalloc.start()
    log = Log().read(numbered(300_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.entries()[0].heading == "execution timeout (collective communication)"
    assert peak < 60 << 20


# ---- the command --------------------------------------------------------------------------------


def explain(*arguments: str, log: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pyaclnn", "explain", *arguments]
    return run_program(command, os.environ, given=log)


def test_a_log_comes_from_standard_input_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(CHAIN, encoding="utf-8")
    outputs = [
        explain(log=CHAIN), explain("-", log=CHAIN), explain(str(tmp_path / "train.log")),
    ]  # fmt: skip
    assert [done.returncode for done in outputs] == [0, 0, 0]
    assert len({done.stdout for done in outputs}) == 1
    assert outputs[0].stdout.startswith("EL0005 (driver)\n")
    assert "Beside it, mostly as a consequence:" in outputs[0].stdout


REFUSED = [("", 2, "a log is missing"), ("all is well\n", 1, "nothing in this log is known")]


@pytest.mark.parametrize(("log", "status", "text"), REFUSED)
def test_a_log_without_a_known_failure_is_answered_so(log: str, status: int, text: str) -> None:
    done = explain(log=log)
    assert (done.returncode, done.stdout) == (status, "")
    assert text in done.stderr


def test_binary_data_and_lines_without_end_are_read(tmp_path: Path) -> None:
    path = tmp_path / "core"
    path.write_bytes(os.urandom(1 << 16) + b"\n" + b"x" * (3 << 20) + b"\nerror code is 507015\n")
    assert "507015 ACL_ERROR_RT_AICORE_EXCEPTION" in explain(str(path)).stdout
