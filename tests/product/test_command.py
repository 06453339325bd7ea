# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn``: what it prints, where, and how it exits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyaclnn as package
from pyaclnn import cli
from pyaclnn.facts.chips import all_chips
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.releases import simulated

from .commands import pyaclnn, run, silent_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    Here = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Return a function that runs the command as `pyaclnn` does, but in this process."""
    for name in os.environ.keys() - silent_environment().keys():
        monkeypatch.delenv(name)

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        status = cli.main(arguments)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, printed.out, printed.err)

    return command


def test_version() -> None:
    told = pyaclnn("--version").stdout
    assert re.fullmatch(rf"pyaclnn {package.__version__}( \(commit \w+\))?, Python .*\n", told)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["mock"], ["smoke", "--nonsense"]])
def test_a_wrong_command_line_exits_with_2_and_shows_the_usage(
    arguments: list[str], here: Here
) -> None:
    done = here(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "usage: pyaclnn" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "command"), [([], "smoke"), (["mock"], "run")], ids=["pyaclnn", "mock"]
)
def test_who_names_no_command_is_shown_which_there_are(
    arguments: list[str], command: str, here: Here
) -> None:
    done = here(*arguments)
    assert re.search(rf"^    {command} +\w", done.stderr, re.MULTILINE)
    assert done.stderr.endswith("error: the following arguments are required: COMMAND\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [[], ["smoke"], ["mock"], ["mock", "run"]])
def test_every_command_explains_itself(arguments: list[str], here: Here) -> None:
    done = here(*arguments, "--help")
    assert done.returncode == 0
    assert "usage: pyaclnn" in done.stdout


# ---- mock ---------------------------------------------------------------------------------------


def test_includedir_holds_the_headers(here: Here) -> None:
    folder = Path(here("mock", "includedir").stdout.strip())
    assert (folder / "acl" / "acl.h").is_file()
    assert (folder / "aclnnop" / "aclnn_rms_norm_grad.h").is_file()


def test_libdir_holds_the_libraries_under_the_vendor_s_names(here: Here) -> None:
    folder = Path(here("mock", "libdir").stdout.strip())
    for name in ("libascendcl.so", "libnnopbase.so", "libopapi.so"):
        content = (folder / name).read_bytes()
        assert content[:4] == b"\x7fELF"
        assert name.encode() in content  # its soname


def test_flags_are_for_a_shell(here: Here) -> None:
    include = here("mock", "includedir").stdout.strip()
    libraries = here("mock", "libdir").stdout.strip()
    flags = f"-I{include} -I{include}/aclnnop -DACL_STUBS_CANN=801\n"
    assert here("mock", "cflags").stdout == flags
    assert here("mock", "ldflags").stdout == (
        f"-L{libraries} -Wl,-rpath,{libraries} -lascendcl -lnnopbase -lopapi -lhccl\n"
    )


def test_chips_lists_what_the_simulated_npu_knows(here: Here) -> None:
    listed = here("mock", "chips").stdout.split()
    assert listed == [chip.soc_name for chip in all_chips()]
    assert "Ascend910B3" in listed


def test_run_hands_on_arguments_output_and_exit_status() -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(7)"
    done = pyaclnn("mock", "run", "--", sys.executable, "-c", program, "--json", "a b")
    assert done.returncode == 7
    assert done.stdout == "['--json', 'a b']\n"


def test_run_makes_the_mock_the_backend_of_any_program() -> None:
    program = "import pyaclnn; print(pyaclnn.backend().name, pyaclnn.device_count())"
    assert pyaclnn("mock", "run", sys.executable, "-c", program).stdout == "mock 2\n"


def test_run_keeps_the_library_path_of_the_user() -> None:
    program = "import os; print(os.environ['LD_LIBRARY_PATH'])"
    done = pyaclnn(
        "mock",
        "run",
        sys.executable,
        "-c",
        program,
        environment=silent_environment(LD_LIBRARY_PATH="/opt/mine"),
    )
    assert done.stdout.strip() == f"{pyaclnn('mock', 'libdir').stdout.strip()}:/opt/mine"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("program", "status", "complaint"),
    [
        ("no-such-program-anywhere", 127, "there is no program 'no-such-program-anywhere'"),
        ("/etc/passwd", 126, "'/etc/passwd' cannot run"),
        ("--", 2, "a program is missing"),
    ],
)
def test_run_says_why_a_program_does_not_start(program: str, status: int, complaint: str) -> None:
    done = pyaclnn("mock", "run", program)
    assert done.returncode == status
    assert complaint in done.stderr


# ---- smoke --------------------------------------------------------------------------------------

FIRST = ("layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_grad")
ONLY_FIRST = [word for name in FIRST for word in ("--operator", name)]
"""Enough to show what the output looks like, whatever the number of operators."""
ONE = "smoke --backend mock --operator rms_norm --dtype float32"


def test_smoke_on_the_mock_passes_and_says_loudly_that_it_is_no_chip() -> None:
    done = pyaclnn("smoke", "--backend", "mock", "--table", *ONLY_FIRST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SIMULATED NPU - not a chip" in done.stdout.splitlines()[0]
    assert "say nothing about any hardware" in done.stdout
    assert re.search(r"All \d+ outputs passed on the simulated NPU\.$", done.stdout.rstrip())
    assert done.stderr == ""
    for operator in FIRST:
        for dtype in ("float32", "float16", "bfloat16"):
            assert re.search(rf"{operator} +│ \w+ +│ {dtype} .*pass", done.stdout)


@pytest.mark.exhaustive
def test_smoke_has_a_line_for_each_operator_unless_it_is_asked_for_more() -> None:
    done = pyaclnn("smoke", "--backend", "mock", *ONLY_FIRST)
    assert done.returncode == 0, done.stdout + done.stderr
    for operator in FIRST:
        lines = re.findall(rf"│ {operator} .*", done.stdout)
        assert len(lines) == 1
        assert re.search(r"│ float32 float16 bfloat16 │ +\d+ │ +100\.00% │ pass │$", lines[0])


@pytest.mark.exhaustive
def test_smoke_runs_only_what_it_is_told_to() -> None:
    wanted = ("--operator", "group_norm", "--dtype", "float16", "--json", "--backend", "mock")
    outcomes = json.loads(pyaclnn("smoke", *wanted).stdout)["outcomes"]
    assert {(o["operator"], o["dtype"]) for o in outcomes} == {("group_norm", "float16")}


@pytest.mark.parametrize("name", ["rms_nrm", "aclnnRmsNorm"])
def test_smoke_says_which_name_comes_near(name: str, here: Here) -> None:
    done = here("smoke", "--operator", name, "--backend", "mock")
    assert (done.returncode, done.stdout) == (2, "")
    hint = f"there is no operator '{name}' in the smoke test; did you mean rms_norm?"
    assert hint in done.stderr


@pytest.mark.exhaustive
def test_smoke_as_json_has_every_output_of_every_operator() -> None:
    done = pyaclnn("smoke", "--json", environment=silent_environment(PYACLNN_BACKEND="mock"))
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert report["backend"] == "mock"
    assert report["simulated"] is True
    assert report["soc_name"] == "Ascend910B3"
    assert report["passed"] is True
    outputs = {(o["operator"], o["output"]) for o in report["outcomes"]}
    assert {pair for pair in outputs if pair[0] in FIRST} == {
        *(("layer_norm", name) for name in ("out", "mean", "rstd")),
        *(("layer_norm_backward", n) for n in ("grad_input", "grad_weight", "grad_bias")),
        *(("rms_norm", name) for name in ("y", "rstd")),
        *(("rms_norm_grad", name) for name in ("dx", "dgamma")),
    }
    written = {
        (operator.name, tensor.name)
        for operator in all_operators().values()
        if "910b" in operator.types.families
        and catalogue()[operator.c_name].is_in(simulated().name)
        for tensor in operator.tensors
        if tensor.written
    }
    assert outputs == written
    assert all(o["passed"] and o["max_abs_error"] >= 0 for o in report["outcomes"])
    # The limit is that of the worst element, which need not be the one with the largest error.
    old = [o for o in report["outcomes"] if o["operator"] in FIRST]
    assert all(o["max_abs_error"] <= o["limit"] for o in old)
    assert any(o["max_abs_error"] > 0 for o in report["outcomes"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "operators",
    [
        pytest.param(["--operator", "rms_norm"], id="one"),
        pytest.param([], id="all"),
    ],
)
def test_smoke_leaves_out_bfloat16_on_a_chip_without_it(operators: list[str]) -> None:
    environment = silent_environment(PYACLNN_BACKEND="mock", PYACLNN_MOCK_SOC="Ascend310P3")
    done = pyaclnn("smoke", "--json", *operators, environment=environment)
    assert done.returncode == 0, done.stdout
    dtypes = {outcome["dtype"] for outcome in json.loads(done.stdout)["outcomes"]}
    assert dtypes == {"float32", "float16"}


@pytest.mark.exhaustive
def test_smoke_fails_on_a_chip_for_which_an_operator_has_no_kernel() -> None:
    environment = silent_environment(PYACLNN_BACKEND="mock", PYACLNN_MOCK_SOC="Ascend310B1")
    done = pyaclnn("smoke", *ONLY_FIRST, environment=environment)
    assert done.returncode == 1
    assert "outputs FAILED on the simulated NPU" in done.stdout
    assert "561003 (ACLNN_ERR_INNER_FIND_KERNEL_ERROR)" in done.stdout


def test_smoke_without_a_backend_explains_itself() -> None:
    done = pyaclnn("smoke")
    # As the doctor's: there is nothing to examine.
    assert done.returncode == pyaclnn("doctor", "--level", "quick").returncode == 4
    assert done.stdout == ""
    assert "no installed CANN was found" in done.stderr
    assert "PYACLNN_BACKEND=mock" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.sampled(0)
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--backend", "mokc"], "mokc"),
        (["--backend", "/nowhere"], "/nowhere: No such file or directory"),
        (["--backend", "mock", "--device", "9"], "9"),
        (["--backend", "mock", "--device", "-1"], "-1"),
    ],
)
def test_smoke_says_what_is_wrong_with_an_option(arguments: list[str], complaint: str) -> None:
    done = pyaclnn("smoke", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["mock", "chips"], ONE.split()])
def test_output_that_cannot_be_written_is_an_error_in_one_line(arguments: list[str]) -> None:
    environment = silent_environment()
    environment.pop("PYTHONUNBUFFERED", None)  # argparse itself would lose what is not buffered
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pyaclnn", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment,
        )
    assert done.stderr == "pyaclnn: [Errno 28] No space left on device\n"
    assert done.returncode == 1


def test_ctrl_c_ends_with_one_line() -> None:
    code = (
        "import os, signal, sys, threading\n"
        "from pyaclnn import cli\n"
        "from pyaclnn.health.command import smoke\n"
        # A shell's background jobs, and what they start, are born ignoring it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "run_child = smoke.run_child\n"
        "def interrupted(*arguments, **options):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return run_child(*arguments, **options)\n"
        "smoke.run_child = interrupted\n"
        "sys.exit(cli.main(['smoke', '--backend', 'mock']))\n"
    )
    done = run(sys.executable, "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "pyaclnn: interrupted\n")


EVERY_KIND_OF_OUTPUT = [
    "--help",
    "--version",
    ONE,
    f"{ONE} --json",
    "mock chips",
    "mock rules",
    "mock faults",
    "mock libdir",
    "explain --list",
    "explain 507015",
    "tiling layernorm --shape 2,32,64 --dtype half",
    "doctor --backend mock --level quick --json -",
    "doctor --list",
    "ascendc run --help",
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("command", "buffered"),
    [*((command, "") for command in EVERY_KIND_OF_OUTPUT), ("--help", "1"), ("mock chips", "1")],
)
def test_a_pipe_that_is_closed_early_says_so_by_the_status_of_a_shell(
    command: str, buffered: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "pyaclnn", *command.split()],
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=silent_environment(PYTHONUNBUFFERED=buffered),
        )
    assert done.returncode == 141, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", EVERY_KIND_OF_OUTPUT)
def test_without_a_standard_output_the_output_could_not_be_written(command: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "pyaclnn", *command.split()],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=silent_environment(),
    )
    assert done.returncode in {1, 3}, done.stderr
    assert "Bad file descriptor" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_any_output_the_status_still_tells() -> None:
    command = ["sh", sys.executable, "-m", "pyaclnn", "mock", "chips"]
    done = subprocess.run(["/bin/sh", "-c", 'exec "$@" >&- 2>&-', *command], check=False)
    assert done.returncode == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m pyaclnn mock chips | head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        env=silent_environment(),
    )
    assert done.stderr == ""
