# SPDX-License-Identifier: Apache-2.0
"""A captured program replays without a difference, and a wrong answer is found where it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from pyaclnn.capture.trace import Call, Contents, Process, read_trace
from pyaclnn.cli import main
from pyaclnn.facts.operators.catalogue import catalogue

from .captured import PROGRAM, WRONG_KERNEL, capture, pyaclnn, pytest_alone

if TYPE_CHECKING:
    from pathlib import Path


def calls(trace: Path) -> list[Call]:
    return [record for record in read_trace(trace) if isinstance(record, Call)]


def test_every_call_is_there_with_its_arguments_and_its_answer(trace: Path) -> None:
    found = calls(trace)
    assert [call.number for call in found] == list(range(len(found)))
    counts = Counter(call.name for call in found)
    assert (counts["aclnnMuls"], counts["aclnnAdd"], counts["aclnnRmsNorm"]) == (2, 2, 2)
    assert counts["aclrtMalloc"] == counts["aclrtFree"]
    created = next(call for call in found if call.name == "aclCreateTensor")
    assert created.numbers("viewDims") == (4, 6)
    assert created.arguments["dataType"] == 0


def test_a_failure_has_its_status_and_message(trace: Path) -> None:
    failed = [call for call in calls(trace) if call.failed and call.name.startswith("aclnnAdd")]
    assert [call.result for call in failed] == [161002]
    assert "shape" in (failed[0].message or "").lower()


def test_contents_are_those_of_the_program(trace: Path) -> None:
    by_call = {call.number: call.name for call in calls(trace)}
    found = [r for r in read_trace(trace) if isinstance(r, Contents) and r.phase == 1]
    first = min((c for c in found if by_call[c.call] == "aclnnMuls"), key=lambda c: c.call)
    assert first.data == (np.arange(24, dtype=np.float32) * np.float32(0.5)).tobytes()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("names", [("aclnnMuls",), ("aclnnMuls", "aclnnRmsNorm")])
def test_contents_of_named_operators_alone_are_recorded_in_full(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    options = [word for name in names for word in ("--full", name)]
    trace = capture(tmp_path / "run.trace", PROGRAM, *options)
    by_call = {call.number: call.name.removesuffix("GetWorkspaceSize") for call in calls(trace)}
    found = [r for r in read_trace(trace) if isinstance(r, Contents)]
    operators = {(by_call[c.call], c.data is not None) for c in found if c.phase == 1}
    everything = ("aclnnMuls", "aclnnAdd", "aclnnRmsNorm")
    assert operators == {(name, name in names) for name in everything}


def test_neither_the_environment_nor_a_path_is_in_the_file(trace: Path) -> None:
    data, at, text = trace.read_bytes(), 16, b""
    while at < len(data):
        stored = int.from_bytes(data[at + 12 : at + 16], "little")
        block = data[at + 20 : at + 20 + stored]
        text += zlib.decompress(block) if data[at : at + 4] == b"BLKz" else block
        at += 20 + stored
    for secret in (os.environ["PATH"], str(trace.parent), sys.executable):
        assert secret.encode() not in text


def test_the_same_machine_gives_the_same_answers(trace: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("json", "junit", "report")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    done = pyaclnn("replay", trace, "--exact", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no divergence" in done.stdout
    assert json.loads(files["json"].read_text())["judged"] == {
        "aclnnMuls": 2, "aclnnAdd": 2, "aclnnRmsNorm": 4
    }  # fmt: skip
    suites = ET.fromstring(files["junit"].read_text())  # noqa: S314  # written just now
    assert [suites.tag, *(each.tag for each in suites)] == ["testsuites", "testsuite"]
    assert (suites.get("tests"), suites.get("failures"), suites.get("skipped")) == ("3", "0", "0")
    assert "| aclnnRmsNorm | 4 | 0 | 0 |" in files["report"].read_text()


RAISES = """
from pyaclnn import mock

@mock.operator("aclnnMuls")
def muls(self, other):
    raise ValueError("no \\x1b[31m\\x01kernel")
"""


def test_a_report_has_no_character_that_a_terminal_or_a_reader_of_xml_refuses(
    trace: Path, tmp_path: Path
) -> None:
    kernels, copy = tmp_path / "kernels.py", tmp_path / os.fsdecode(b"r\xff\x1bn.trace")
    kernels.write_text(RAISES)
    copy.write_bytes(trace.read_bytes())
    copy.with_name(f"{copy.name}.7").write_bytes(b"")
    files = {name: tmp_path / name for name in ("json", "junit", "report")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    done = pyaclnn("replay", copy, *options, PYACLNN_MOCK_OPERATORS=str(kernels))
    assert (done.returncode, done.stderr) == (1, "")
    assert "no \ufffdkernel" in done.stdout
    assert json.loads(files["json"].read_text())["trace"] == "r\ufffd\ufffdn.trace"
    ET.fromstring(files["junit"].read_text())  # noqa: S314  # written just now
    assert files["report"].read_text().startswith("r\ufffd\ufffdn.trace (Ascend910B3) on ")
    shown = pyaclnn("trace", "show", copy)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "other processes of the program: r\ufffd\ufffdn.trace.7" in shown.stdout


PLAIN = """
import numpy as np
from pyaclnn import aclnn
zeros, ones, others = (np.full((2, 3), value, np.float32) for value in (0, 1, 5))
aclnn.add(zeros, ones, alpha=1.0)
aclnn.add(ones, ones, alpha=1.0)
aclnn.add(ones, others, alpha=1.0)
"""
MADE_UP = "contents were not recorded, or results not written here"


@pytest.mark.parametrize(
    ("contents", "compared", "said"),
    [
        ("none", 0, ", 3 operators judged by the status only"),
        ("hash", 2, f", 1 not comparable ({MADE_UP}), 1 operator judged by the status only"),
        ("full", 3, ""),
    ],
)  # fmt: skip
def test_a_replay_judges_results_of_known_inputs_and_counts_the_others(
    contents: str, compared: int, said: str, tmp_path: Path
) -> None:
    trace = capture(tmp_path / "run.trace", PLAIN, "--contents", contents)
    done = pyaclnn("replay", trace)
    assert done.returncode == 0, done.stdout
    assert f", {compared} results compared{said}, 2 calls skipped (" in done.stdout


def test_a_replay_ends_at_a_device_that_does_not_open(trace: Path) -> None:
    done = pyaclnn("replay", trace, PYACLNN_MOCK_MODE="lazy")
    first, *_, reason, counts = done.stdout.splitlines()
    assert done.returncode == 1
    assert first.endswith(
        "aclrtSetDevice: status: recorded 0, here 507033 ACL_ERROR_RT_DEV_SETUP_ERROR"
    )
    assert "PYACLNN_MOCK_MODE is 'lazy'" in done.stdout
    assert done.stdout.count("status: recorded") == 1
    assert reason.startswith("the replay ends at call ")
    assert counts.endswith("1 divergence.")


def test_a_wrong_kernel_is_found_at_its_element_and_becomes_a_test(
    trace: Path, tmp_path: Path
) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(WRONG_KERNEL)
    done = pyaclnn("replay", trace, PYACLNN_MOCK_OPERATORS=str(kernel))
    assert done.returncode == 1
    found = [line for line in done.stdout.splitlines() if line.startswith("call ")]
    number = next(call.number for call in calls(trace) if call.name == "aclnnMuls")
    assert len(found) == 2  # what follows from it is no difference of its own
    assert found[0].startswith(f"call {number} aclnnMuls out[0, 3]: result: recorded 1.5, here 2.5")
    assert "\n        with self=float32[4, 6], other=0.5, out=float32[4, 6], " in done.stdout
    early = pyaclnn("replay", trace, "--fail-early", PYACLNN_MOCK_OPERATORS=str(kernel))
    assert early.stdout.startswith(f"{found[0]}\n")
    assert ", 1 result compared" in early.stdout

    made = pyaclnn("trace", "test", trace, str(number), PYACLNN_MOCK_OPERATORS=str(kernel))
    assert made.returncode == 0, made.stderr
    assert len(made.stdout.splitlines()) <= 25
    assert "np.array([[0.0, 1.0, 2.0, 3.0]], np.float32)" in made.stdout
    test = tmp_path / "test_bug.py"
    test.write_text(made.stdout)
    results = [
        pytest_alone(tmp_path, PYACLNN_MOCK_OPERATORS=kernels) for kernels in ("", str(kernel))
    ]
    assert [result.returncode for result in results] == [0, 1]


SQUARES = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
x, y = np.random.default_rng(31).standard_normal((2, 8, 8)).astype(np.float32)
aclnn.add(x, y, alpha=1.0)
aclnn.matmul(x, y, out=pyaclnn.Empty((8, 8), x.dtype), cubeMathType=0)
pyaclnn.layer_norm(x, 8, np.ones(8, x.dtype), np.zeros(8, x.dtype))
aclnn.cat([x, y], 1, out=pyaclnn.Empty((8, 16), x.dtype))
"""
WRONG_EVERYWHERE = """
import numpy as np
from pyaclnn import mock

@mock.operator("aclnnAdd")
def add(self, other, alpha):
    return self + alpha * other + 1

@mock.operator("aclnnMatmul")
def matmul(self, mat2, cubeMathType):
    return self @ mat2 + 1

@mock.operator("aclnnLayerNorm")
def layer_norm(input, normalizedShape, weightOptional, biasOptional, eps):
    mean, rstd = input.mean(-1, keepdims=True), 1 / np.sqrt(input.var(-1, keepdims=True) + eps)
    return (input - mean) * rstd + 1, mean, rstd

@mock.operator("aclnnCat")
def cat(tensors, dim):
    return np.concatenate(tensors, dim) + 1
"""


def test_contents_of_a_result_that_is_wrong_everywhere_shrink_by_the_axes_that_allow_it(
    tmp_path: Path,
) -> None:
    trace = capture(tmp_path / "run.trace", SQUARES, "--contents", "full")
    kernel = tmp_path / "kernel.py"
    kernel.write_text(WRONG_EVERYWHERE)
    shapes = {}
    for call in calls(trace):
        if call.name in {"aclnnAdd", "aclnnMatmul", "aclnnLayerNorm", "aclnnCat"}:
            made = pyaclnn("trace", "test", trace, call.number, PYACLNN_MOCK_OPERATORS=str(kernel))
            assert made.returncode == 0, made.stderr
            names: dict[str, object] = {"__name__": "made"}
            source = made.stdout.replace("    found_", "    return locals()\n    found_", 1)
            exec(source, names)  # noqa: S102  # the test that was written
            given = next(v for n, v in names.items() if n.startswith("test_"))()  # type: ignore[operator]
            arrays = {n: v for n, v in given.items() if hasattr(v, "shape")}
            arrays |= {f"{n}{i}": v for n, each in given.items() if n == "tensors"
                       for i, v in enumerate(each)}  # fmt: skip
            shapes[call.name] = {name: array.shape for name, array in arrays.items()}
    assert shapes == {
        "aclnnAdd": {"self": (1, 1), "other": (1, 1), "out": (1, 1)},
        "aclnnMatmul": {"self": (1, 8), "mat2": (8, 1), "out": (1, 1)},
        "aclnnLayerNorm": {
            "input": (1, 8), "weightOptional": (8,), "biasOptional": (8,), "out": (1, 8),
            "meanOutOptional": (1, 1), "rstdOutOptional": (1, 1),
        },
        "aclnnCat": {"tensors0": (1, 8), "tensors1": (1, 8), "out": (1, 16)},
    }  # fmt: skip


def test_a_report_that_cannot_be_written_is_named_and_loses_no_result(
    trace: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / "missing" / "report.md"
    done = pyaclnn("trace", "compare", trace, trace, "--report", nowhere)
    assert "no divergence" in done.stdout
    named = f"pyaclnn trace compare: '{nowhere}': No such file or directory"
    assert (done.returncode, done.stderr.strip()) == (2, named)


def test_a_trace_that_is_cut_anywhere_is_readable_up_to_its_last_whole_block(
    trace: Path, tmp_path: Path
) -> None:
    data, whole = trace.read_bytes(), list(read_trace(trace))
    assert isinstance(whole[0], Process)
    cut = tmp_path / "cut.trace"
    for length in range(16, len(data), max(1, len(data) // 150)):
        cut.write_bytes(data[:length])
        found = list(read_trace(cut))
        assert found == whole[: len(found)]


def test_zeros_at_the_end_are_a_cut(trace: Path, tmp_path: Path) -> None:
    zeros = tmp_path / "zeros.trace"
    zeros.write_bytes(trace.read_bytes() + bytes(4096))
    assert calls(zeros) == calls(trace)
    assert pyaclnn("replay", zeros).stdout.endswith("no divergence.\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ["replay", "trace show", "trace test", "trace compare"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "'given': No such file or directory"),
        (b"text of another kind", "'given': no trace of this version"),
        (b"pyaclnn trace 1\n", "'given': no trace of this version"),
        (b"", "no call"),
        (b"pyaclnn trace 3\nBLK", "no call"),
    ],
    ids=["missing", "foreign", "other version", "empty", "cut"],
)
def test_a_file_without_calls_is_refused_by_every_command(
    command: str,
    content: bytes | None,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "given").write_bytes(content)
    rest = {"trace test": ["1"], "trace compare": ["given"]}.get(command, [])
    done = pyaclnn(*command.split(), "given", *rest)
    if command == "trace show" and reason == "no call":
        assert done.stdout.startswith("0 calls")
        assert (
            "incomplete: the process was killed or still runs, or its disk was full" in done.stdout
        )
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pyaclnn {command}: ")
    assert reason in done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", ["trace show", "trace test", "trace compare", "replay"])
def test_a_reader_that_goes_ends_each_command_without_a_word(command: str, trace: Path) -> None:
    number = next(call.number for call in calls(trace) if call.name == "aclnnMuls")
    rest: dict[str, list[object]] = {"trace test": [number], "trace compare": [trace]}
    reading, writing = os.pipe()
    os.close(reading)
    words: list[str | Path] = [sys.executable, "-m", "pyaclnn", *command.split(), trace]
    words += map(str, rest.get(command, []))
    with os.fdopen(writing, "w") as nobody:
        done = subprocess.run(words, env={**os.environ, "PYACLNN_BACKEND": "mock"}, stdout=nobody,
                              stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("given", "hint"),
    [("aclnnMulls", "did you mean 'aclnnMuls'?"), ("Add", "did you mean 'aclnnAdd'?"),
     ("HcclAllReduc", "did you mean 'HcclAllReduce'?"),
     ("quuxquuxquuxquux", "'pyaclnn ops list' lists them.")],
)  # fmt: skip
def test_contents_of_an_operator_that_does_not_exist_are_refused(
    given: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "run.trace"
    status = main(["capture", "-o", str(trace), "--full", given, "--", "true"])
    assert (status, trace.exists()) == (2, False)
    assert f"argument --full: '{given}' is no operator; {hint}" in capsys.readouterr().err


def test_operators_in_full_that_the_program_does_not_call_are_warned_of(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    options = [word for name in ("Mul", "Add", "Quantize") for word in ("--full", f"aclnn{name}")]
    done = pyaclnn("capture", "-o", trace, *options, "--", sys.executable, "-c", PROGRAM)
    text = "pyaclnn capture: --full aclnn{}: no call of it was recorded; {}\n".format
    hints = (
        ("Mul", "did you mean 'aclnnMuls'?"),
        ("Quantize", f"'pyaclnn trace show {trace}' lists all"),
    )
    assert (done.returncode, done.stderr) == (0, "".join(text(*each) for each in hints))


def test_as_many_operators_as_there_are_can_be_named(tmp_path: Path) -> None:
    names = [name for name in catalogue() if name < "aclnnM"]
    options = [word for name in (*names, "aclnnMuls") for word in ("--full", name)]
    trace = capture(tmp_path / "run.trace", PROGRAM, *options)
    of = {call.number for call in calls(trace) if call.name == "aclnnMuls"}
    found = [r.data for r in read_trace(trace) if isinstance(r, Contents) and r.call in of]
    assert found
    assert None not in found


def test_a_missing_trace_is_named_before_a_missing_backend(tmp_path: Path) -> None:
    done = pyaclnn("replay", tmp_path / "absent", PYACLNN_BACKEND=str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr
    assert "absent" in done.stderr


def test_a_limit_below_what_a_trace_begins_with_is_refused(tmp_path: Path) -> None:
    done = pyaclnn("capture", "-o", tmp_path / "run.trace", "--limit", "4095", "--", "true")
    assert done.returncode == 2
    words = "argument --limit: '4095' is less than a trace begins with; it must be 4K or more"
    assert words in done.stderr
