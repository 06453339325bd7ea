# SPDX-License-Identifier: Apache-2.0
"""Unmodified PyTorch with torch-npu computes on the simulated NPU what it computes on the CPU."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.releases import NEWEST

from .conftest import HERE, PATIENCE, cases_of, settings

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Ask

EXAMPLES = HERE.parents[1] / "examples" / "pytorch"

NAMES = cases_of("torch_cases.py", "pyaclnn_cases.py", "launch_cases.py")
# With CANN 8.1.
GRAPHS = cases_of("graph_cases.py", "compiled_cases.py")
# Programs that are wrong -> the rule they break.
WRONG = {
    "wrong_wait_inside_a_capture": "capture-disturbed",
    "wrong_without_an_event": "streams-not-ordered",
    "wrong_memory_given_back": "memory-used-before-synchronize",
}
CASES = [name for name in NAMES if name not in WRONG]
CHIPS = {"Ascend910B3": "8.1", "Ascend950PR_9579": "9.1"}
"""Chips, each with the first release of CANN that knows it."""


def check(answer: dict[str, Any]) -> None:
    """No result is further from the CPU's than its type allows, and no rule was broken."""
    assert "failure" not in answer, answer["failure"]
    assert answer["records"] == []
    assert answer["errors"]
    wrong = {name: pair for name, pair in answer["errors"].items() if not pair[0] <= pair[1]}
    assert not wrong, f"error and limit: {wrong}"


@pytest.mark.parametrize("case", GRAPHS)
def test_single_operators_compute_what_the_cpu_does(ask: Ask, case: str) -> None:
    check(ask(case, PYACLNN_MOCK_SOC="Ascend910B3", PYACLNN_MOCK_CANN="8.1"))


@pytest.mark.parametrize(
    ("chip", "case"), [("Ascend310P3", "a_network_in_blocks"), ("Ascend910A", "a_scaled_step")]
)
def test_chips_that_have_single_operators_alone_compute_what_the_cpu_does(
    ask: Ask, chip: str, case: str
) -> None:
    check(ask(case, PYACLNN_MOCK_SOC=chip, PYACLNN_MOCK_CANN="8.1"))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("case", CASES)
def test_the_npu_computes_what_the_cpu_does(ask: Ask, case: str, chip: str) -> None:
    check(ask(case, PYACLNN_MOCK_SOC=chip, PYACLNN_MOCK_CANN=CHIPS[chip]))


@pytest.mark.parametrize(
    "settings",
    [
        {"TASK_QUEUE_ENABLE": "0"},
        {"TASK_QUEUE_ENABLE": "2"},
        {"PYACLNN_MOCK_MODE": "eager"},
        {"PYACLNN_MOCK_CANN": NEWEST},
        {"PYACLNN_MOCK_MODE": "shuffled:7"},
        {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"},
    ],
    ids=lambda settings: "=".join(*settings.items()),
)
def test_neither_the_order_of_work_nor_the_release_changes_anything(
    ask: Ask, settings: dict[str, str]
) -> None:
    for case in ("training_with_adamw", "copies_and_streams"):
        check(answer := ask(case, PYACLNN_MOCK_SOC="Ascend910B3", **settings))
        assert (answer["mapped"] > 0) == ("PYTORCH_NPU_ALLOC_CONF" in settings)


@pytest.mark.parametrize(("case", "rule"), WRONG.items())
def test_a_wrong_program_leaves_a_record(ask: Ask, case: str, rule: str) -> None:
    records = ask(case, PYACLNN_MOCK_SOC="Ascend910B3")["records"]
    assert {record["rule"] for record in records} == {rule}


REFUSED = """
import numpy as np, torch, torch_npu, pyaclnn.torch as norms
x = torch.ones(4, 8)
calls = {
    "cpu": lambda: norms.layer_norm(x, 8),
    "weight": lambda: norms.layer_norm(x.npu(), 8, torch.ones(8)),
    "numpy": lambda: norms.rms_norm(x.numpy(), 8, eps=1e-6),
    "elsewhere": lambda: norms.layer_norm(x.npu(), 8, torch.ones(8, device="npu:1")),
    "dtype": lambda: norms.group_norm(x.double().npu(), 2),
    "twice": lambda: torch.autograd.grad(
        (norms.layer_norm(y := x.npu().requires_grad_(), 8) ** 2).sum(), y, create_graph=True
    )[0].sum().backward(),
}
for name, call in calls.items():
    try:
        call()
    except Exception as error:
        print(name, type(error).__name__, str(error).replace(chr(10), " "))
"""


@pytest.mark.usefixtures("torch_npu")
def test_what_lies_elsewhere_is_told_the_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED],
        env=settings(PYACLNN_MOCK_STRICT="1", PYACLNN_MOCK_ALLOW="alive-at-finalize"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    wrong = "InvalidArgumentError layer_norm(): "
    assert said["cpu"].startswith(f"{wrong}'input' is on cpu; it must be on an NPU. Hint: move it")
    assert said["weight"].startswith(f"{wrong}'weight' is on cpu; it must be on an NPU.")
    assert "'input' is an ndarray; it must be a torch.Tensor on an NPU." in said["numpy"]
    assert (
        said["elsewhere"] == f"{wrong}'weight' is on npu:1; it must be on npu:0, as the others are."
    )
    assert "'input' is float64; it must be float32" in said["dtype"]
    assert said["twice"].endswith("pyaclnn.torch.layer_norm has no second-order gradients")


@pytest.mark.usefixtures("torch_npu")
def test_the_programs_of_the_how_to_run(tmp_path: Path) -> None:
    text = (HERE.parents[1] / "docs/how-to/pytorch.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```py title=.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(programs) == 2
    (tmp_path / "programs.py").write_text("\n".join(programs), encoding="utf-8")
    assert run(tmp_path / "programs.py").count("tensor(") == 1


def run(program: object, *arguments: object, **variables: str) -> str:
    """Run an example to its end; what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, (EXAMPLES / str(program), *arguments))],
        env=settings(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("torch_npu")
def test_the_example_learns_on_the_npu_as_on_the_cpu(tmp_path: Path) -> None:
    curves = {}
    for device, autoload in (("npu", "1"), ("cpu", "0")):
        file = tmp_path / f"{device}.json"
        run("train.py", device, "--losses", file, TORCH_DEVICE_BACKEND_AUTOLOAD=autoload)
        curves[device] = json.loads(file.read_text(encoding="utf-8"))
    assert len(curves["cpu"]) == 50
    assert curves["cpu"][-1] < curves["cpu"][0] / 2
    assert curves["npu"] == pytest.approx(curves["cpu"], rel=1e-4)
    if find_spec("matplotlib") is not None:
        files = (tmp_path / "npu.json", tmp_path / "cpu.json")
        assert run("plot.py", *files, tmp_path / "losses.png").endswith(": 2 curves\n")
        assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG\r\n")


_NORM = "import torch, torch_npu; torch.nn.LayerNorm(8).npu()(torch.ones(4, 8).npu()).cpu()"


@pytest.mark.usefixtures("torch_npu")
@pytest.mark.parametrize(("allowed", "status"), [("alive-at-finalize", 0), ("", -signal.SIGABRT)])
def test_the_end_of_a_program_is_clean_but_for_what_torch_npu_keeps(
    allowed: str, status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NORM],
        env=settings(PYACLNN_MOCK_STRICT="1", PYACLNN_MOCK_ALLOW=allowed),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert ("simulated NPU: [alive-at-finalize]" in done.stderr) == (status != 0)


_AFTER_AN_ERROR = """
import torch, torch_npu
print(torch_npu.npu.utils._is_gte_cann_version("9.0.0"))
x, index = torch.ones(4, 8).npu(), torch.tensor([0, 9]).npu()
chosen = x.index_select(0, index)
for _ in range(2):
    try:
        chosen.cpu()
    except RuntimeError as error:
        print("element 9; it must be in [0, 3]" in str(error), "aclnnIndexSelect" in str(error))
print(torch.ones(4).pin_memory().is_pinned())
"""


@pytest.mark.usefixtures("torch_npu")
def test_an_error_of_the_data_is_named_by_every_later_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _AFTER_AN_ERROR],
        env=settings(PYACLNN_MOCK_CANN="9.1"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.endswith("True\nTrue True\nTrue True\nTrue\n"), done.stderr
    assert "[kernel-failed] a kernel fails on the data that it was given" in done.stderr


_WITHOUT_A_KERNEL = """
import torch, torch_npu
x, steps = torch.ones(4).npu(), torch.ones(1, dtype=torch.int64).npu()
try:
    torch_npu._npu_silent_check_v2(x[0], x, x[:3], steps, 1, 1., 1., 1., 1., 1)
    torch.npu.synchronize()
except RuntimeError as error:
    said = "has aclnnSilentCheck, but no kernel for it", "PYACLNN_MOCK_OPERATORS", "def kernel(val,"
    print(all(each in str(error) for each in said))
"""
_WITHOUT_A_SINGLE_KERNEL = """
import torch, torch_npu
torch.npu.set_compile_mode(jit_compile=True)
boxes = torch.ones(1, 4, 5).npu()
try:
    torch_npu.npu_rotated_iou(boxes, boxes, False, 0, True, 0., 0.)
    torch.npu.synchronize()
except RuntimeError as error:
    print("no kernel for the single operator RotatedIou" in str(error))
"""


@pytest.mark.usefixtures("torch_npu")
@pytest.mark.parametrize("queue", ["0", "1"])
@pytest.mark.parametrize("program", [_WITHOUT_A_KERNEL, _WITHOUT_A_SINGLE_KERNEL])
def test_an_operator_without_kernel_is_an_error_of_python(program: str, queue: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=settings(PYACLNN_MOCK_CANN="8.1", TASK_QUEUE_ENABLE=queue),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout[-5:]) == (0, "True\n"), done.stderr
