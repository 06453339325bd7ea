# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn ops`` tells what an installation has, and no more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyaclnn import cli
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.health.installed.comparison import find_installation
from pyaclnn.health.installed.kernels import chip_folder, chips, kernel_of, kernels
from pyaclnn.health.installed.listing import declared_operators, in_one_line
from pyaclnn.ops.typed_stub import typed_stub
from tests.installed.made import HEADERS, TBE, make


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("cann"))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = cli.main(["ops", *map(str, arguments)])
    done = capsys.readouterr()
    return status, done.out, done.err


def test_operators_are_listed_by_category(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list", "--root", root)
    assert status == 0
    lines = [line for line in out.splitlines() if line.startswith("  acl") or line.endswith(":")]
    assert [line.split()[0] for line in lines] == [
        *("normalization:", "aclnnRmsNormGrad", "others:", "aclnnAdd", "aclnnOwn"),
    ]
    assert "own(xs, from_) -> y" in out
    assert "910b/910_93/950: dy float32, x float32, rstd float32" in out


@pytest.mark.parametrize("word", ["RmsNorm", "rms_norm", "aclnnRms"])
def test_names_are_found_in_both_spellings(
    word: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "list", word, "--root", root)
    assert status == 0
    assert [name for name in out.split() if name.startswith("acl")] == ["aclnnRmsNormGrad"]


def test_without_an_installation_the_table_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list", "topk")
    assert status == 0
    assert "aclnnTopk " in out
    assert all("topk" in line.lower() for line in out.splitlines() if line.startswith("  acl"))
    assert declared_operators(None).keys() >= {*catalogue()}
    described = {op.c_name for op in all_operators().values()}
    assert declared_operators(None).keys() >= described


SHOWN = """\
aclnnRmsNormGrad: pyaclnn.aclnn.rms_norm_grad(dy, x, rstd, gamma) -> dxOut, dgammaOut
declared in aclnnop/aclnn_rms_norm_grad.h ({root})
  in     const aclTensor *        dy
  in     const aclTensor *        x
  in     const aclTensor *        rstd
  in     const aclTensor *        gamma
  out    const aclTensor *        dxOut
  out    const aclTensor *        dgammaOut
"""
NO_KERNEL = "561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR"
NO_PACKAGE = "561112 ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND"
KERNEL = """\
ascend910b: kernel for it: RmsNormGrad (aic-ascend910b-ops-info.json), binaries installed: 1 of 2
  dy        x         rstd   gamma?   dx        dgamma
  float16   float16   float  float16  float16   float
  bfloat16  bfloat16  float  float    bfloat16  float   no binary: {no_kernel}
  attribute epsilon: float = 1e-6
  attribute mode: int
"""


@pytest.mark.parametrize("chip", ["Ascend910B3", "ascend910b"])
def test_an_operator_is_shown_with_its_kernel(
    chip: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "show", "aclnnRmsNormGrad", "--soc", chip, "--root", root)
    assert status == 0
    assert out.startswith(SHOWN.format(root=root))
    assert out.endswith(KERNEL.format(no_kernel=NO_KERNEL))
    assert "supported" not in out


def test_without_an_installation_no_chip_is_described(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, _ = run(capsys, "show", "aclnnTopk", "--soc", "Ascend910B3")
    assert status == 0
    assert "the dtypes of Ascend910B3 are in an installation of CANN, and there is none" in out


def test_of_every_chip_the_kernel_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "add", "--root", root)
    assert out.splitlines()[-3:] == [
        "ascend310b: no kernel is called like it",
        (
            "ascend310p: kernel for it: Add (aic-ascend310p-ops-info.json), "
            f"no binaries are installed: phase 1 answers {NO_PACKAGE}"
        ),
        (
            "ascend910b: kernel for it: Add (aic-ascend910b-ops-info.json), "
            f"binaries installed: 0 of 2: phase 1 answers {NO_KERNEL}"
        ),
    ]
    assert "results may be left out: broadcast of self, other" in out


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("aclnnAdd", "a kernel of its own"),
        ("aclnnLayerNorm", "a kernel of its own"),
        ("aclnnFlatQuantV3", "no kernel; pyaclnn.mock.operator gives it one"),
    ],
)
def test_what_the_simulated_npu_has_of_it_is_told(
    operator: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "show", operator)
    assert status == 0
    assert f"on the simulated NPU: {said}\n" in out


def test_what_is_not_there_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "show", "aclnnAdds", "--root", root)
    assert (status, err) == (
        2,
        "pyaclnn ops: there is no operator aclnnAdds; did you mean aclnnAdd?\n",
    )
    none = (
        "pyaclnn ops: no operator has 'zz' and 'add' in its name; without a word all are listed\n"
    )
    assert run(capsys, "list", "zz", "add", "--root", root) == (2, "", none)
    _, out, _ = run(capsys, "show", "aclnnAdd", "--root", root, "--soc", "Ascend950")
    assert out.splitlines()[-1].startswith("no list of kernels is for Ascend950; there are some")
    status, _, err = run(capsys, "list", "--root", root / "nothing")
    assert (status, "has neither libraries nor headers" in err) == (2, True)
    _, out, _ = run(capsys, "show", "aclnnOwn", "--root", root)
    assert "which of these are written is a guess: no document of it is known" in out
    assert run(capsys, "list", "no such word")[0] == 2


def test_chips_go_by_the_name_of_their_folder_or_by_the_platform_file(root: Path) -> None:
    assert chips(root / "opp") == ["ascend310b", "ascend310p", "ascend910b"]
    assert chip_folder(root, "Ascend910B3") == "ascend910b"
    assert chip_folder(root, "Ascend310P") == "ascend310p"
    assert chip_folder(root, "Ascend910B4") is None


@pytest.mark.parametrize(
    ("operator", "kernel"),
    [
        ("aclnnAdd", "Add"),
        ("aclnnInplaceAdd", "Add"),
        ("aclnnAddV3", "Add"),
        ("aclnnAddTensor", "Add"),
        ("aclnnRmsNormBackward", "RmsNormGrad"),
        ("aclnnRmsNorm", None),
    ],
)
def test_a_kernel_goes_by_the_name_of_the_operator_or_nearly_so(
    operator: str, kernel: str | None, root: Path
) -> None:
    found = kernel_of(operator, kernels(root / "opp", "ascend910b"))
    assert (found and found.name) == kernel


USE = """
from typing import Any
from numpy.typing import NDArray
import pyaclnn
import operators_of_cann as aclnn

def f(x: NDArray[Any], y: pyaclnn.DeviceArray) -> None:
    a: NDArray[Any] = aclnn.add(x, x, 1.0)
    b: pyaclnn.DeviceArray = aclnn.add(y, y, 1, pyaclnn.Empty(3, "float32"))
    aclnn.add(x, y, 1.0)
    aclnn.add(x, x, "1")
    aclnn.add(x)
"""


@pytest.mark.exhaustive
def test_a_type_checker_accepts_the_stub_of_all_operators_and_goes_by_it(tmp_path: Path) -> None:
    (tmp_path / "operators_of_cann.pyi").write_text(typed_stub(declared_operators(None)), "utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    pytest.importorskip("mypy")
    package = Path(cli.__file__).parents[1]
    # An editable installation is found by a hook, which mypy does not know; others it finds itself.
    found = {} if package.name.endswith("-packages") else {"MYPYPATH": str(package)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py", "operators_of_cann.pyi"],
        env={"PATH": "", **found},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if "error" in line]
    assert [line.split(":")[:2] for line in lines[:-1]] == [
        ["use.py", str(number)] for number in (10, 11, 12)
    ], done.stdout


def test_the_stub_is_that_of_the_installation(root: Path) -> None:
    installation = find_installation(root)
    assert installation is not None
    text = typed_stub(declared_operators(installation))
    assert len({*re.findall(r"^def (\w+)", text, re.MULTILINE)}) == 3
    assert "    from_: float,\n    y: _A | Empty | None = ...,\n" in text
    compile(text, "operators_of_cann.pyi", "exec")
    declared = declared_operators(installation)["aclnnOwn"]
    assert in_one_line("aclnnOwn", declared) == "own(xs, from_) -> y"


@pytest.mark.parametrize("kind", ["deep", "nested", "pipe", "endless", "large"])
def test_a_hostile_list_of_kernels_is_passed_over(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(tmp_path)
    lists = root / TBE / "config/ascend910b/aic-ascend910b-ops-info.json"
    keys = root / TBE / "kernel/config/ascend910b/binary_info_config.json"
    for path in (lists, keys):
        path.unlink()
        if kind == "deep":
            path.write_text("[" * 1_000_000, encoding="utf-8")
        elif kind == "nested":
            path.write_text(f'{{"RmsNormGrad":{"[" * 950}{"]" * 950}}}', encoding="utf-8")
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "endless":
            path.symlink_to("/dev/zero")
        else:
            path.touch()
            os.truncate(path, 1 << 40)
    status, out, errors = run(capsys, "show", "aclnnRmsNormGrad", "--root", root)
    assert (status, errors) == (0, "")
    assert "aclnnRmsNormGrad" in out
    (root / HEADERS / "aclnn_add.h").unlink()
    os.mkfifo(root / HEADERS / "aclnn_add.h")
    assert run(capsys, "list", "--root", root)[0] == 0
