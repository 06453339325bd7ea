# SPDX-License-Identifier: Apache-2.0
"""Headers of operators are read as CANN writes them, each for itself, and only when needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann import headers, signatures as known
from pyaclnn.cann.headers import no_header, read_header
from pyaclnn.mock import includedir
from tests.releases import NEWEST, OLDEST

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 8 << 20
TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor"


def read(folder: Path, text: str) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    path = folder / "aclnn_x.h"
    path.write_text(text, encoding="utf-8")
    header = read_header(path)
    return {d.name: d.types for d in header.declarations}, header.problems


FORMS = {
    "plain": f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *x, {TAIL});",
    "split over lines": f"aclnnStatus\naclnnXGetWorkspaceSize(\n  const aclTensor* x,\n {TAIL});",
    "star at the name": f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor  *x, {TAIL}) ;",
    "const after the type": f"aclnnStatus aclnnXGetWorkspaceSize(aclTensor const *x, {TAIL});",
    "const pointer": f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *const x, {TAIL});",
    "an attribute": '__attribute__((visibility("default")))\n'
    f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *x, {TAIL});",
    "marks": 'ACLNN_API ACL_DEPRECATED_MESSAGE("use (aclnnY)") aclnnStatus '
    f"aclnnXGetWorkspaceSize(const aclTensor *x, {TAIL});",
    "comments": "/* aclnnStatus aclnnY(int a);\n*/ // aclnnStatus aclnnZ(int a);\n"
    f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor /* int */ *x, // ;\n {TAIL});",
    "directives": "#ifndef G\n#define G(a, b) aclnnStatus \\\n  aclnnY(int a);\n#include <array>\n"
    f'extern "C" {{\naclnnStatus aclnnXGetWorkspaceSize(const aclTensor *x, {TAIL});\n}}\n#endif',
    "an enum beside it": "typedef enum { A = 0, B } Mode;\nenum class Reduction { NONE, MEAN };\n"
    f"aclnnStatus aclnnXGetWorkspaceSize(const aclTensor *x, {TAIL});",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_declaration_is_read_however_it_is_written(form: str, tmp_path: Path) -> None:
    found, problems = read(tmp_path, FORMS[form])
    expected = ("const aclTensor *", "uint64_t *", "aclOpExecutor **")
    assert (found, problems) == ({"aclnnXGetWorkspaceSize": expected}, ())


def test_what_is_not_understood_is_told_and_costs_only_itself(tmp_path: Path) -> None:
    found, problems = read(
        tmp_path,
        "aclnnStatus aclnnGood(int64_t n);\n\nstd::string odd(int a);\n"
        "aclnnStatus aclnnBad(void (*call)(int), int b);\n"
        "aclnnStatus aclnnHalf(const aclTensor *);\n"
        "aclnnStatus aclnnLast(char *text, double values[3]);\n",
    )
    assert found == {"aclnnGood": ("int64_t",), "aclnnLast": ("char *", "double *")}
    assert [problem.removeprefix(str(tmp_path)) for problem in problems] == [
        "/aclnn_x.h:3: std::string odd(int a) aclnnStatus aclnnBad(void (*call)(int), int b)",
        "/aclnn_x.h:5: aclnnHalf: parameter 'const aclTensor *'",
    ]


def test_a_declaration_says_since_when_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "aclnn_x.h"
    path.write_text(
        "#ifndef G\nint aclnnA(int a);\n#if ACL_STUBS_CANN >= 901\nint aclnnB(int a);\n"
        "#ifdef __cplusplus\nint aclnnC(int a);\n#endif\nint aclnnD(int a);\n#else\n"
        "int aclnnE(int a);\n#endif\nint aclnnF(int a);\n#endif\n",
        encoding="utf-8",
    )
    since = {d.name: d.since for d in read_header(path).declarations}
    newer = {"aclnnB", "aclnnC", "aclnnD"}
    assert since == {f"aclnn{x}": NEWEST if f"aclnn{x}" in newer else OLDEST for x in "ABCDEF"}


def test_our_own_headers_leave_nothing_over() -> None:
    headers = sorted((includedir() / "aclnnop").glob("*.h"))
    assert headers
    assert [problem for path in headers for problem in read_header(path).problems] == []


def test_asking_for_an_operator_reads_its_header_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = known.OperatorHeaders([includedir() / "aclnnop"])
    asked: list[str] = []

    def read_one(path: Path) -> object:
        asked.append(path.name)
        return read_header(path)

    monkeypatch.setattr(headers, "read_header", read_one)
    known._of_header.cache_clear()
    found = known.signature("aclnnRmsNormGetWorkspaceSize", installed)
    assert found is not None
    assert found.parameters[0] == "x"
    assert known.signature("aclnnRmsNorm", installed) is not None
    assert known.signature("aclrtMalloc", installed) is not None
    assert asked == ["aclnn_rms_norm.h"]
    assert known.signature("aclnnAdd") is not None
    assert asked == ["aclnn_rms_norm.h"], "the table needs no header"


def test_what_cannot_be_a_header_is_not_read(tmp_path: Path) -> None:
    header, large, pipe = (tmp_path / name for name in ("a.h", "large.h", "pipe.h"))
    header.touch()
    large.touch()
    os.truncate(large, MOST_BYTES)
    os.mkfifo(pipe)
    assert [no_header(path) for path in (header, large, tmp_path / "none.h")] == [None] * 3
    os.truncate(large, MOST_BYTES + 1)
    assert no_header(large) == "it is too large for a header: 8388609 bytes"
    assert no_header(pipe) == "it is no ordinary file"


def test_what_only_a_comment_names_is_no_operator() -> None:
    assert known.signature("aclnnSuchAnOperatorDoesNotExist") is None
    assert known.signature("no_name_at_all") is None
