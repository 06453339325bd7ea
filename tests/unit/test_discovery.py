# SPDX-License-Identifier: Apache-2.0
"""Discovery of CANN's libraries, on the layouts of 8.x and 9.x."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from pyaclnn.base.errors import BackendNotFoundError
from pyaclnn.cann.discovery import (
    custom_operators,
    installation_roots,
    library_sets,
    loader_folders,
)
from pyaclnn.cann.search import search

COMMON = ["libascendcl.so", "libnnopbase.so"]


def make(directory: Path, *names: str) -> Path:
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).touch()
    return directory


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def test_named_roots_come_before_the_usual_ones_and_once() -> None:
    environment = {"ASCEND_TOOLKIT_HOME": "/b", "ASCEND_HOME_PATH": "/b", "ASCEND_INSTALL_PATH": ""}
    roots = installation_roots(environment, Path("/home/u"), Path("/env"))
    assert [str(root) for root in roots] == [
        "/b",
        "/home/u/Ascend/cann",
        "/home/u/Ascend/ascend-toolkit/latest",
        "/usr/local/Ascend/cann",
        "/usr/local/Ascend/ascend-toolkit/latest",
        "/opt/Ascend/cann",
        "/env/Ascend/cann",
    ]


def test_the_layout_of_8_has_one_operator_library_with_companions(tmp_path: Path) -> None:
    made = make(
        tmp_path / "lib64", *COMMON, "libopapi.so", "libaclnn_math.so", "libaclnn_ops_train.so"
    )
    [found] = library_sets(tmp_path)
    assert found.directory == made
    assert names(found.runtime) == ["libascendcl.so", "libacl_rt.so"]
    assert found.base == made / "libnnopbase.so"
    assert names(found.operators) == ["libopapi.so", "libaclnn_ops_train.so", "libaclnn_math.so"]


def test_split_operator_libraries_are_never_mixed_with_the_monolith(tmp_path: Path) -> None:
    split = ["libopapi_zoo.so", "libopapi_nn.so", "libopapi_math.so", "libopapi_legacy.so"]
    make(tmp_path / "lib64", *COMMON, "libopapi.so", "libaclnn_math.so", *split)
    [found] = library_sets(tmp_path)
    assert names(found.operators) == [
        "libopapi_math.so",
        "libopapi_nn.so",
        "libopapi_legacy.so",
        "libopapi_zoo.so",
    ]


def test_libraries_are_found_in_the_directory_itself_and_by_architecture(tmp_path: Path) -> None:
    flat = make(tmp_path / "flat", *COMMON)
    deep = make(tmp_path / "deep" / f"{platform.machine()}-linux" / "lib64", *COMMON)
    assert library_sets(flat, flat=True)[0].directory == flat
    assert library_sets(tmp_path / "deep")[0].directory == deep


def test_a_root_without_libraries_is_still_reported(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    places = [absent / "lib64", absent / f"{platform.machine()}-linux" / "lib64"]
    sets = library_sets(absent)
    assert [s.directory for s in sets] == places
    assert {s.operators for s in sets} == {()}
    assert [s.directory for s in library_sets(absent, flat=True)] == [absent, *places]


def test_custom_operators_come_in_the_order_of_the_user_and_of_the_vendors(tmp_path: Path) -> None:
    def package(path: Path) -> Path:
        return make(path / "op_api" / "lib", "libcust_opapi.so") / "libcust_opapi.so"

    mine = package(tmp_path / "mine")
    vendors = tmp_path / "opp" / "vendors"
    first, second = package(vendors / "b"), package(vendors / "a")
    (vendors / "config.ini").write_text("load_priority=b,a,missing\n")
    environment = {"ASCEND_CUSTOM_OPP_PATH": f"{tmp_path / 'mine'}:{tmp_path / 'none'}"}
    assert custom_operators(environment, tmp_path) == [mine, first, second]


def test_an_unreadable_vendor_list_names_no_vendors(tmp_path: Path) -> None:
    vendors = make(tmp_path / "opp" / "vendors")
    (vendors / "config.ini").write_bytes(b"\xff\xfe nonsense")
    assert custom_operators({}, tmp_path) == []


def test_folders_of_the_loader_are_absolute_ones_with_a_runtime_and_no_stubs(
    tmp_path: Path,
) -> None:
    old = make(tmp_path / "lib64", "libascendcl.so")
    new = make(tmp_path / "new", "libacl_rt.so")
    stubs = [make(tmp_path / name, "libascendcl.so") for name in ("devlib", "stub")]
    empty = make(tmp_path / "empty")
    path = ":".join(map(str, ["", "lib64", *stubs, empty, new, old, new, "/none"]))
    assert loader_folders({"LD_LIBRARY_PATH": path}) == [new, old]
    assert loader_folders({}) == []


def test_names_that_are_too_long_name_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "/" + "x" * 5000
    assert not [path for found in library_sets(Path(long), flat=True) for path in found.operators]
    assert loader_folders({"LD_LIBRARY_PATH": long}) == []
    assert custom_operators({"ASCEND_CUSTOM_OPP_PATH": long}, Path(long)) == []
    for choice in (long, long[1:]):
        with pytest.raises(BackendNotFoundError):
            search(choice, "select_backend")
    monkeypatch.setenv("ASCEND_HOME_PATH", long)
    # Beside a simulated NPU, which other tests may have loaded, no folder is tried.
    with pytest.raises(BackendNotFoundError, match=r"File name too long|is the simulated NPU"):
        search("cann", "select_backend")
