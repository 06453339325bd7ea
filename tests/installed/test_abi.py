# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn abi`` finds how an installation differs from what is known, and how bad that is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pyaclnn import cli, mock
from pyaclnn.cann.headers import read_header
from pyaclnn.cann.signatures import OperatorHeaders
from pyaclnn.facts.operators.catalogue import Entry, catalogue
from pyaclnn.facts.releases import RELEASES
from pyaclnn.health.installed.comparison import (
    SEVERITIES,
    compare,
    compare_operators,
    find_installation,
)
from tests.installed.made import HEADERS, declare
from tests.releases import OLDEST

OLD = [entry for entry in catalogue().values() if OLDEST in entry.releases]
VARIABLE = "PYACLNN_TEST_HEADERS"
"""A folder with real operator headers of CANN 8.1."""


def parameters(entry: Entry) -> str:
    return ", ".join(f"{p.c_type} {p.name}" for p in entry.parameters).replace("* ", "*")


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("complete")
    for entry in OLD:
        declare(root, f"{entry.name}.h", entry.name, parameters(entry))
    return root


@pytest.fixture
def root(complete: Path, tmp_path: Path) -> Path:
    folder = tmp_path / HEADERS
    folder.parent.mkdir(parents=True)
    shutil.copytree(complete / HEADERS, folder, copy_function=os.link)
    return tmp_path


def change(root: Path, name: str, old: str, new: str) -> None:
    path = root / HEADERS / f"{name}.h"
    text = path.read_text(encoding="utf-8")
    path.unlink()  # it is one file with that of others
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def found(root: Path) -> list[tuple[str, str, str]]:
    installation = find_installation(root)
    assert installation is not None
    return [(d.severity, d.name, d.text) for d in compare(installation).differences]


def test_a_complete_installation_does_not_differ(complete: Path) -> None:
    assert found(complete) == []


FIRST = "aclnnAddGetWorkspaceSize"
CHANGES = {
    "a type": ("const aclScalar *alpha", "double alpha", "ABI", FIRST,
               "argument 3 (alpha) is double, not const aclScalar *"),
    "a number of another width": ("aclTensor *out", "aclTensor *out, int8_t n", "ABI", FIRST,
                                  "takes 7 arguments, not 6"),
    "the second phase": ("aclrtStream stream", "int stream", "ABI", "aclnnAdd",
                         "argument 4 (stream) is int, not aclrtStream"),
    "a name": ("*other", "*second", "renamed", FIRST, "argument 2 is second, not other"),
    "a const": ("const aclTensor *self", "aclTensor *self", "const", FIRST,
                "argument 1 (self) is aclTensor *, not const aclTensor *"),
    "an operator": ("aclnnAddGet", "aclnnBrandNewGet", "new", "aclnnBrandNew",
                    "is declared, and not known here"),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_what_was_changed_is_found_with_its_severity(case: str, root: Path) -> None:
    old, new, severity, name, text = CHANGES[case]
    change(root, "aclnnAdd", old, new)
    differences = found(root)
    if case == "an operator":
        missing = ("missing", "aclnnAdd", "no header declares it, as 8.1's did")
        assert differences.pop(0) == missing
    assert differences == [(severity, name, text)]


def test_the_worst_comes_first_and_the_exit_status_tells_harm(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(root, "aclnnAdd", "*other", "*second")
    assert cli.main(["abi", "--against", str(root)]) == 0
    out = capsys.readouterr().out
    assert "renamed  aclnnAddGetWorkspaceSize: argument 2 is second, not other" in out
    assert out.endswith("ABI 0, missing 0, renamed 1, const 0, new 0\n")
    (root / HEADERS / "aclnnAbs.h").unlink()
    change(root, "aclnnMul", "aclTensor *out", "int64_t out")
    assert cli.main(["abi", "--json", "--against", str(root)]) == 1
    record = json.loads(capsys.readouterr().out)
    assert [d["severity"] for d in record["differences"]] == ["ABI", "missing", "renamed"]
    assert record["counts"] == {
        **dict.fromkeys(SEVERITIES, 0),
        "ABI": 1,
        "missing": 1,
        "renamed": 1,
    }
    assert record["declared"] == 2 * (len(OLD) - 1)


def test_without_anything_to_compare_with_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["abi", "--against", str(tmp_path)]) == 2
    (tmp_path / "aclnn_x.h").write_text("// nothing", encoding="utf-8")
    assert cli.main(["abi", "--against", str(tmp_path)]) == 2
    assert "no function that is known" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", RELEASES)
def test_a_simulated_home_has_what_its_headers_declare(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_CANN", release)
    home = mock.build_home(tmp_path / "home")
    assert found(home) == []
    # And what they declare is looked for: there is a release that has more.
    (header,) = (home / "include/acl").glob("acl_release.h")
    *_, newest = RELEASES
    header.write_text(f"#define ACL_STUBS_CANN {RELEASES[newest].headers}\n", encoding="utf-8")
    assert bool(found(home)) == (release != newest)


def test_symbols_that_libraries_do_not_export_are_missed() -> None:
    with mock.without("aclrtMalloc", "aclCreateTensor") as folder:
        assert [d for d in found(folder) if d[0] == "missing"] == [
            ("missing", name, "is in 8.1, and no library exports it")
            for name in ("aclCreateTensor", "aclrtMalloc")
        ]


def test_an_operator_that_is_declared_and_not_exported_is_missed(tmp_path: Path) -> None:
    declare(tmp_path, "aclnn_add.h", "aclnnAdd", parameters(catalogue()["aclnnAdd"]))
    source = tmp_path / "operators.c"
    source.write_text("int aclnnAdd(void) { return 0; }", encoding="utf-8")
    library = tmp_path / "lib64" / "libopapi.so"
    library.parent.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    shutil.copy(mock.libdir() / "libascendcl.so", library.parent)
    text = "is declared by this installation, and no library exports it"
    assert ("missing", "aclnnAddGetWorkspaceSize", text) in found(tmp_path)
    assert ("missing", "aclnnAdd", text) not in found(tmp_path)


def test_functions_of_the_runtime_are_compared_by_their_types(tmp_path: Path) -> None:
    shutil.copytree(mock.includedir() / "acl", tmp_path / "include" / "acl")
    shutil.copytree(mock.includedir() / "aclnnop", tmp_path / "include" / "aclnnop")
    header = next(
        path
        for path in (tmp_path / "include" / "acl").rglob("*.h")
        if "aclrtMalloc(" in path.read_text(encoding="utf-8")
    )
    text = header.read_text(encoding="utf-8")
    header.write_text(
        re.sub(r"aclrtMalloc\(void \*\*(\w+), size_t", r"aclrtMalloc(void **\1, int", text)
    )
    told = [d for d in found(tmp_path) if d[0] == "ABI"]
    assert told == [("ABI", "aclrtMalloc", "argument 2 is int32_t, not size_t")]


# ---- real headers, where there are some ---------------------------------------------------------


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no folder of headers")
def test_real_headers_are_read_and_are_those_of_the_table() -> None:
    folder = os.environ[VARIABLE]
    folders = sorted({path.parent for path in Path(folder).rglob("acl*.h")})
    headers = OperatorHeaders([f for f in folders if f.name in {"aclnnop", "level2"}] or folders)
    problems = [problem for path in headers.paths for problem in read_header(path).problems]
    assert problems == []
    first = {n for n in headers.everything() if n.endswith("GetWorkspaceSize")}
    assert len(first) == len(OLD)
    assert list(compare_operators(headers)) == []
