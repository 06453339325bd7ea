# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin in another project's test suite, as README shows it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from .commands import run, silent_environment
from .pages import PAGES, blocks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

[EXAMPLE] = blocks(PAGES["README.md"], "py")

HEAD = """\
import numpy as np
import pyaclnn
import pytest

"""


# Other plugins that are installed here take longer to load than a test to run.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pyaclnn.pytest_plugin"}


def suite(
    folder: Path, text: str, *options: str, environment: Mapping[str, str] = ALONE
) -> tuple[int, str]:
    """Run ``text`` as a test file in an empty project; return the status and the output."""
    return suite_with_errors(folder, text, *options, environment=environment)[:2]


def suite_with_errors(
    folder: Path, text: str, *options: str, environment: Mapping[str, str] = ALONE
) -> tuple[int, str, str]:
    """Return the standard error of the suite, too."""
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
    done = run(*command, cwd=folder, environment={**silent_environment(), **environment})
    return done.returncode, done.stdout, done.stderr


def test_the_example_of_the_readme_passes(tmp_path: Path) -> None:
    status, output = suite(tmp_path, EXAMPLE, environment={})  # the plugin is found by itself
    assert status == 0, output


@pytest.mark.exhaustive
def test_the_examples_of_the_how_to_pass(tmp_path: Path) -> None:
    text = PAGES["docs/how-to/test.md"]
    status, output = suite(tmp_path, "\n".join(blocks(text, "py")))
    assert (status, re.findall(r"\d+ passed", output)) == (0, ["3 passed"]), output


def test_what_a_test_leaves_on_the_device_fails_it(tmp_path: Path) -> None:
    body = "kept = []\ndef test_it(npu):\n    kept.append(pyaclnn.raw.ffi.new('void **'))\n"
    body += "    assert pyaclnn.raw.aclrtMalloc(kept[0], 64, 0) == 0\n"
    status, output = suite(tmp_path, HEAD + body)
    assert status == 1
    assert "created in aclrtMalloc" in output, output


@pytest.mark.exhaustive
def test_what_a_failed_test_holds_is_no_leak(tmp_path: Path) -> None:
    body = "def test_it(npu):\n    x = pyaclnn.to_device(np.ones(8, np.float32), npu)\n"
    status, output = suite(tmp_path, HEAD + body + "    assert x is None\n")
    assert status == 1
    assert "1 failed in" in output
    assert "left this on the NPU" not in output


@pytest.mark.exhaustive
def test_looking_at_a_result_too_early_fails_the_test(tmp_path: Path) -> None:
    early = EXAMPLE.replace("    npu.synchronize()\n", "", 1)
    assert early != EXAMPLE
    status, output = suite(tmp_path, early)
    assert status == 1
    assert "has still to write this array" in output
    # Without the library's own check the simulated NPU notices.
    status, output = suite(tmp_path, HEAD + BREAKS_A_RULE)
    assert status == 1
    assert "memory-used-before-synchronize" in output


BREAKS_A_RULE = """\
def test_it(npu):
    x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
    y = pyaclnn.rms_norm(x, x[0]).y
    host = pyaclnn.raw.ffi.new("char[64]")
    source = pyaclnn.raw.pointer_to(y.address)
    assert pyaclnn.raw.aclrtMemcpy(host, 64, source, 64, pyaclnn.raw.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    npu.synchronize()
"""


@pytest.mark.exhaustive
def test_a_test_may_break_rules_on_purpose(tmp_path: Path) -> None:
    marked = HEAD + "@pytest.mark.pyaclnn(contract=False)\n" + BREAKS_A_RULE
    assert suite(tmp_path, HEAD + BREAKS_A_RULE)[0] == 1
    assert suite(tmp_path, marked)[0] == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("marker", "condition"),
    [
        ("soc='Ascend310P3'", "npu.soc_name == 'Ascend310P3'"),
        ("mode='eager'", "bool(np.isfinite(y.numpy()).all())"),
    ],
)
def test_a_marker_chooses_the_chip_and_the_mode(
    tmp_path: Path, marker: str, condition: str
) -> None:
    body = BREAKS_A_RULE.partition("    host =")[0] + f"    assert {condition}\n"
    status, output = suite(tmp_path, HEAD + f"@pytest.mark.pyaclnn({marker})\n" + body)
    assert status == 0, output


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("marker", "line"),
    [
        ("chip='x'", "takes soc=, mode=, contract= and fresh=, not 'chip'"),
        (
            "contact=0",
            "takes soc=, mode=, contract= and fresh=, not 'contact'; did you mean contract=?",
        ),
        ("'eager'", "takes soc=, mode=, contract= and fresh=, not 'eager'"),
        ("contract=0", "takes True or False as contract=, not 0"),
        (
            "soc='Ascend910b3'",
            "takes a chip as soc=, not 'Ascend910b3'; did you mean 'Ascend910B3'?",
        ),
        (
            "soc='Ascend999'",
            "takes a chip as soc=, not 'Ascend999'; did you mean 'Ascend910_9392' or 'Ascend910_",
        ),
        ("soc='x'", "takes a chip as soc=, not 'x'; it may be Ascend910B1, Ascend"),
        ("soc=910", "takes a chip as soc=, not 910"),
        ("mode=7", "takes 'deferred', 'eager' or 'shuffled:SEED' as mode=, not 7"),
        ("mode='eagre'", "takes 'deferred', 'eager' or 'shuffled:SEED' as mode=, not 'eagre'"),
    ],
)
def test_a_mistyped_marker_is_one_line(tmp_path: Path, marker: str, line: str) -> None:
    status, output = suite(
        tmp_path, HEAD + f"@pytest.mark.pyaclnn({marker})\n" + BREAKS_A_RULE, "--tb=short"
    )
    assert status == 1
    [said] = re.findall("_+ ERROR at setup of test_it _+\n(.*)\n=", output)
    assert said.startswith(f"the marker pyaclnn {line}"), output


FOREIGN = """\
@pytest.mark.npu(3, chip="theirs", soc="theirs")
def test_a_marker_of_their_own():
    assert True

@pytest.fixture
def npu(request):
    return request.node.get_closest_marker("npu").args[0]

@pytest.mark.npu(4, contract="theirs")
def test_a_fixture_of_their_own(npu):
    assert npu == 4
"""


@pytest.mark.exhaustive
def test_the_marker_npu_of_a_suite_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = npu: theirs\n", encoding="utf-8")
    status, output = suite(tmp_path, HEAD + FOREIGN, "--strict-markers")
    assert status == 0, output


LOOKS_AT_ITS_COST = """\
import sys

def test_it(request):
    assert request.fixturenames == ["request"]
    paid = {name for name in sys.modules if name.startswith(("pyaclnn", "numpy", "ctypes"))}
    print("paid for:", sorted(paid))
"""


@pytest.mark.exhaustive
def test_a_suite_without_an_npu_gets_no_fixture_and_loads_nothing(tmp_path: Path) -> None:
    status, output = suite(tmp_path, LOOKS_AT_ITS_COST, "-s")
    assert status == 0, output
    expected = ["pyaclnn", "pyaclnn.base", "pyaclnn.base.lazy", "pyaclnn.pytest_plugin"]
    assert f"paid for: {expected}" in output


LOADS_THEM_BY_ITSELF = """\
import _ctypes
import sys
import pyaclnn.mock

def test_it():
    library = _ctypes.dlopen(str(pyaclnn.mock.libdir() / "libascendcl.so"), 2)
    import this  # what brings a library along is a module
    assert _ctypes.call_function(_ctypes.dlsym(library, "aclrtDestroyStream"), (4711,)) != 0
    assert "ctypes" not in sys.modules
"""


def test_a_rule_that_is_broken_without_any_help_of_python_fails_the_test(tmp_path: Path) -> None:
    status, output = suite(tmp_path, LOADS_THEM_BY_ITSELF)
    assert status == 1
    assert "CANN's contract was broken 1 times" in output, output


@pytest.mark.exhaustive
def test_after_a_leak_the_next_test_is_not_run_on_another_chip(tmp_path: Path) -> None:
    body = """
kept = []

@pytest.mark.pyaclnn(soc="Ascend310P3")
def test_leaks(npu):
    kept.append(pyaclnn.Buffer(64, npu))

def test_wants_the_usual_chip(npu):
    raise AssertionError("this was run on " + npu.soc_name)

@pytest.mark.pyaclnn(soc="Ascend310P3")
def test_wants_the_same_chip(npu):
    assert npu.soc_name == "Ascend310P3"

def test_gets_the_usual_chip_again(npu_if_it_is_free):
    pass

@pytest.fixture
def npu_if_it_is_free():
    kept.clear()
    with pyaclnn.Device(0) as device:
        assert device.soc_name == "Ascend910B3"
"""
    status, output = suite(tmp_path, HEAD + body)
    assert status == 1
    assert "this was run on" not in output
    assert "this test requires Ascend910B3, but device 0 is already open as Ascend310P3" in output
    assert "3 passed, 2 errors" in output, output


def test_faults_are_set_for_one_test(tmp_path: Path) -> None:
    body = """
def test_fault(npu, npu_faults):
    npu_faults("aclrtMalloc:1=207001")
    with pytest.raises(pyaclnn.OutOfMemoryError):
        pyaclnn.to_device(np.ones(4, np.float32), npu)

def test_no_fault(npu):
    pyaclnn.to_device(np.ones(4, np.float32), npu)
"""
    status, output = suite(tmp_path, HEAD + body)
    assert status == 0, output


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("aclrtCreateEvent=207001", "aclrtCreateEvent was never called"),
        ("aclrtMalloc:9=207001", "aclrtMalloc was called 1 times, but the selected call was not"),
        ("aclrtMalloc=hang", "it queued no work that could fail later"),
    ],
)
def test_a_fault_that_never_came_about_fails_the_test(tmp_path: Path, fault: str, why: str) -> None:
    body = f"""
def test_fault(npu, npu_faults):
    npu_faults({fault!r})
    pyaclnn.to_device(np.ones(4, np.float32), npu)

def test_the_next(npu):
    pass
"""
    status, output = suite(tmp_path, HEAD + body)
    assert status == 1
    assert re.search(rf"faults never occurred:\n  {re.escape(fault)}: .*{re.escape(why)}", output)
    assert "2 passed, 1 error" in output


@pytest.mark.exhaustive
def test_faults_that_came_about_are_no_error_whatever_replaced_them(tmp_path: Path) -> None:
    body = """
def test_fault(npu, npu_faults):
    for fault in ("aclrtMalloc=207001", "memory=1", "aclrtMalloc:p0.001=207001"):
        npu_faults(fault)
        try:
            pyaclnn.to_device(np.ones(4, np.float32), npu).close()
        except pyaclnn.OutOfMemoryError:
            pass

def test_fault_that_was_replaced(npu, npu_faults):
    npu_faults("aclrtCreateEvent=207001")
    npu_faults("")
"""
    status, output = suite(tmp_path, HEAD + body)
    assert status == 1
    assert "2 passed, 1 error" in output
    assert "ERROR at teardown of test_fault_that_was_replaced" in output, output


@pytest.mark.exhaustive
def test_without_cann_the_backend_cann_is_an_error(tmp_path: Path) -> None:
    options = "--npu-backend=/nonexistent"
    status, _, errors = suite_with_errors(tmp_path, HEAD + BREAKS_A_RULE, options)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "/nonexistent" in errors


def test_a_wrong_backend_is_one_usage_error(tmp_path: Path) -> None:
    two = HEAD + BREAKS_A_RULE + BREAKS_A_RULE.replace("test_it", "test_that")
    for options in ((), ("-p", "xdist.plugin", "-n1")):
        status, output, errors = suite_with_errors(tmp_path, two, "--npu-backend=mokc", *options)
        assert status == pytest.ExitCode.USAGE_ERROR
        assert "test_it" not in output
        assert errors.count("--npu-backend=mokc: ") == 1
        assert "did you mean 'mock'?" in errors


IDLE = """\
@pytest.mark.pyaclnn(soc="Ascend310P3")
def test_idle():
    pass

@pytest.mark.pyaclnn
def test_idle_too():
    pass

@pytest.mark.pyaclnn(contract=False)
def test_with_effect():
    pass

@pytest.mark.pyaclnn(soc="Ascend310P3")
def test_that_asks_later(request):
    assert request.getfixturevalue("npu").soc_name == "Ascend310P3"

@pytest.mark.pyaclnn(mode="eager")
def test_skipped():
    pytest.skip("elsewhere")
"""


def test_a_marker_without_effect_warns_at_the_line_of_the_test(tmp_path: Path) -> None:
    status, output = suite(tmp_path, HEAD + IDLE)
    assert status == 0, output
    warned = re.findall(r"test_it.py:(\d+): PytestWarning: the marker pyaclnn has no eff", output)
    assert warned == ["5", "9"], output
    assert suite(tmp_path, HEAD + IDLE, "-W", "error::pytest.PytestWarning")[0] == 1


REFUSED = """\
def test_refused(npu):
    pyaclnn.rms_norm(np.ones((2, 8), np.float32), np.ones(5, np.float32))

def test_used_closed(npu):
    x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
    x.close()
    x.numpy()

def test_other_errors_keep_their_frames(npu, monkeypatch):
    monkeypatch.setattr("pyaclnn.calling.refusals.Refusals.find_lengths", lambda: None)
    pyaclnn.rms_norm(np.ones((2, 8), np.float32), np.ones(5, np.float32))
"""


@pytest.mark.exhaustive
def test_a_refusal_is_shown_at_the_line_of_the_test(tmp_path: Path) -> None:
    status, output = suite(tmp_path, HEAD + REFUSED)
    assert status == 1
    places = re.findall(r"^(\S+):\d+: (?:in \w+|\w*Error)?$", output, re.MULTILINE)
    assert places[:2] == ["test_it.py"] * 2, output
    assert places[-1].endswith("pyaclnn/calling/described.py")
    output = suite(tmp_path, HEAD + REFUSED, "--full-trace")[1]
    assert "calling/refusals.py" in output


@pytest.mark.exhaustive
def test_a_leaked_device_is_blamed_on_the_line_of_the_test(tmp_path: Path) -> None:
    body = "kept = []\n\ndef test_it(npu):\n    kept.append(pyaclnn.Device(0))\n"
    status, output, errors = suite_with_errors(tmp_path, HEAD + body)
    assert status == 1
    line = f"  device 0, created in aclrtSetDevice at {tmp_path / 'test_it.py'}:8\n"
    assert line in output
    assert "Exception ignored" not in errors


def test_an_unknown_chip_in_the_environment_suggests_one(tmp_path: Path) -> None:
    unknown = {**ALONE, "PYACLNN_MOCK_SOC": "Ascend310p"}
    status, output = suite(tmp_path, EXAMPLE, environment=unknown)
    assert status == 1
    assert "'Ascend310p', which is no chip the simulated NPU knows; did you mean" in output
    assert "'Ascend310P1'?" in output
