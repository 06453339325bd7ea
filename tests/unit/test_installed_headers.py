# SPDX-License-Identifier: Apache-2.0
"""Signatures of operators come from the headers of the installation with their library."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann import headers
from pyaclnn.cann.discovery import header_folders
from pyaclnn.cann.headers import read_header
from pyaclnn.cann.signatures import OperatorHeaders, Signature, signature

if TYPE_CHECKING:
    from pathlib import Path

TAIL = "uint64_t *size, aclOpExecutor **executor"
BUILT_IN = "opp/built-in/op_impl/ai_core/tbe/op_api/include/aclnnop"


def write(folder: Path, file: str, *operators: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"aclnnStatus aclnn{o}, {TAIL});\n" for o in operators)
    (folder / file).write_text(text, encoding="utf-8")
    return folder


def first_names(found: Signature | None) -> tuple[str, ...]:
    assert found is not None
    return found.parameters[:-2]


def test_an_installation_knows_better_than_the_table(tmp_path: Path) -> None:
    write(tmp_path, "aclnn_add.h", "AddGetWorkspaceSize(aclTensor *mine")
    installed = OperatorHeaders([tmp_path])
    assert first_names(signature("aclnnAddGetWorkspaceSize", installed)) == ("mine",)
    assert first_names(signature("aclnnAddGetWorkspaceSize")) == ("self", "other", "alpha", "out")


def test_what_an_installation_has_no_header_of_stands_in_the_table(tmp_path: Path) -> None:
    found = signature("aclnnSubGetWorkspaceSize", OperatorHeaders([tmp_path]))
    assert found is not None
    assert (found.header, found.since, found.library) == ("aclnnop/aclnn_sub.h", "8.1", "operators")
    assert found.types[-3:] == ("aclTensor *", "uint64_t *", "aclOpExecutor **")
    run = signature("aclnnSub")
    assert run is not None
    assert run.types == ("void *", "uint64_t", "aclOpExecutor *", "aclrtStream")


def test_an_operator_that_nobody_has_listed_is_found_in_any_file(tmp_path: Path) -> None:
    write(tmp_path, "aclnn_other.h", "MineGetWorkspaceSize(aclTensor *x", "Mine(aclTensor *x")
    (tmp_path / "a.h").write_text("// aclnnMineGetWorkspaceSize(int a)", encoding="utf-8")
    installed = OperatorHeaders([tmp_path])
    assert first_names(signature("aclnnMineGetWorkspaceSize", installed)) == ("x",)
    assert signature("aclnnMineGetWorkspaceSize") is None


def test_of_two_folders_the_first_tells_and_a_wrong_guess_of_the_file_costs_nothing(
    tmp_path: Path,
) -> None:
    one = write(tmp_path / "1", "aclnn_odd.h", "AbsGetWorkspaceSize(aclTensor *one")
    two = write(tmp_path / "2", "aclnn_even.h", "AbsGetWorkspaceSize(aclTensor *two")
    installed = OperatorHeaders([one, two])
    assert first_names(installed.find("aclnnAbsGetWorkspaceSize")) == ("one",)
    assert first_names(installed.everything()["aclnnAbsGetWorkspaceSize"]) == ("one",)
    assert installed.find("aclnnNoSuchOperator") is None


def test_asking_for_one_operator_reads_one_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("add", "sub", "mul"):
        write(tmp_path, f"aclnn_{name}.h", f"{name.title()}GetWorkspaceSize(aclTensor *x")
    asked: list[str] = []

    def read_one(path: Path) -> object:
        asked.append(path.name)
        return read_header(path)

    monkeypatch.setattr(headers, "read_header", read_one)
    assert signature("aclnnSubGetWorkspaceSize", OperatorHeaders([tmp_path])) is not None
    assert asked == ["aclnn_sub.h"]


LAYOUTS = {
    "8.1": ([BUILT_IN, f"{BUILT_IN}/level2"], ".", [BUILT_IN, f"{BUILT_IN}/level2"]),
    "9.1": (["include/aclnnop"], ".", ["include/aclnnop"]),
    "for one machine": (
        [f"{platform.machine()}-linux/include/aclnnop"],
        ".",
        [f"{platform.machine()}-linux/include/aclnnop"],
    ),
    "chosen by its libraries": (["include/aclnnop"], "lib64", ["include/aclnnop"]),
    "and by those of a machine": (["include/aclnnop"], "arm-linux/lib64", ["include/aclnnop"]),
    "libraries alone": ([], ".", []),
    "another one beside it": (["../other/include/aclnnop"], ".", []),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_headers_lie_in_the_root_of_the_libraries_and_nowhere_else(
    layout: str, tmp_path: Path
) -> None:
    there, chosen, expected = LAYOUTS[layout]
    root = tmp_path / "root"
    for folder in (*there, chosen):
        (root / folder).mkdir(parents=True, exist_ok=True)
    found = header_folders([root / "lib64" / "libopapi.so"], root / chosen)
    assert found == [root / folder for folder in expected]


def test_the_headers_of_a_package_of_ones_own_come_first(tmp_path: Path) -> None:
    package = tmp_path / "mine" / "op_api"
    for folder in (package / "include", tmp_path / "cann" / "include" / "aclnnop"):
        folder.mkdir(parents=True)
    libraries = [package / "lib" / "libcust_opapi.so", tmp_path / "cann/lib64/libopapi.so"]
    assert header_folders(libraries, tmp_path / "cann") == [
        package / "include",
        tmp_path / "cann" / "include" / "aclnnop",
    ]
