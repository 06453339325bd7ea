# SPDX-License-Identifier: Apache-2.0
"""Questions about paths of a broken machine have an answer, whatever lies there."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.facts.machine import variables
from pyaclnn.health.checks.dependencies import search_path
from pyaclnn.health.checks.installation import KERNELS, gap_in_kernels
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.checks.variables import problem_of
from pyaclnn.health.command.run import run
from pyaclnn.health.report.verdict import problems
from tests.doctor.case import QUICK
from tests.doctor.installations import ARCH, healthy

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tests.doctor.parts import Parts


def _loop(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


@pytest.mark.parametrize(
    "broken",
    [
        _loop,
        lambda folder: folder / ("a" * 100_000),
        lambda folder: folder / "a\0b",
        lambda folder: folder / "gone" / "file",
    ],
)
def test_what_cannot_be_seen_is_not_there(tmp_path: Path, broken: object) -> None:
    assert callable(broken)
    path = ExaminedPath(broken(tmp_path))
    assert (path.exists(), path.is_dir(), path.is_file()) == (False, False, False)
    assert not (path / "below").exists()
    assert not Machine(root=tmp_path).exists(path)
    assert Machine().text(path) is None


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Path.touch, ""),
        (Path.mkdir, ""),
        (str, "no such file"),
        (lambda path: path.symlink_to("/gone"), "a link to /gone, which does not exist"),
        (lambda path: path.symlink_to(path), "a link that leads to itself"),
    ],
)
def test_the_reason_why_nothing_is_seen_is_known(
    tmp_path: Path, made: Callable[[Path], object], reason: str
) -> None:
    made(tmp_path / "file")
    assert ExaminedPath(tmp_path / "file").absence() == reason


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_link_whose_target_cannot_be_asked_is_not_one_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "link").symlink_to("/closed/file")

    def stat(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        reason = ExaminedPath(tmp_path / "link").absence()
    assert reason == os.strerror(code)


def test_a_link_into_a_closed_folder_is_refused_not_damaged(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    chip = made.cann / ARCH / "data/platform_config/Ascend910B3.ini"
    closed = made.root / "closed"
    closed.mkdir(mode=0o700)
    chip.unlink()
    chip.symlink_to(closed / chip.name)
    ask = os.stat

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if isinstance(path, str | Path) and closed in Path(os.path.realpath(path)).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return ask(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        first, *_ = problems(run(QUICK, machine=made.machine()).results)
    assert (first.id, "/closed" in first.summary) == ("CANN-006", True)
    assert "this user may not" in first.summary


def test_links_in_a_circle_are_resolved_as_far_as_they_go(tmp_path: Path) -> None:
    assert ExaminedPath(_loop(tmp_path)).resolve().parent == tmp_path.resolve()
    with pytest.raises((OSError, RuntimeError)):
        ExaminedPath(tmp_path / "loop").resolve(strict=True)


def test_what_is_derived_from_an_examined_path_is_one(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    path = ExaminedPath(tmp_path)
    derived = [path / "a", path.parent, path.resolve(), *path.iterdir(), *path.glob("*")]
    assert {type(one) for one in derived} == {ExaminedPath}


def test_an_entry_of_the_loaders_path_that_is_too_long_leads_nowhere() -> None:
    [long, there] = search_path(Machine(environment={"LD_LIBRARY_PATH": f"/{'a' * 9999}:/"}))
    assert (long.exists(), there.exists()) == (False, True)


@pytest.mark.parametrize(
    ("named", "temporary"),
    [(None, None), ("", None), ("/some/x/", "/some/x"), ("x", "x")],
)
def test_the_folder_of_temporary_files_is_absolute(
    named: str | None, temporary: str | None
) -> None:
    environment = {} if named is None else {"TMPDIR": named}
    expected = None if temporary is None else str(Path.cwd() / temporary)
    assert Machine(environment=environment).temporary == expected


@pytest.mark.parametrize(
    ("files", "gap"),
    [
        (("{k}/ascend910b/rms/k.o", "{k}/config/ascend910b/binary_info_config.json"), ""),
        (("{k}/config/ascend910b/a.json", "{k}/ascend910b/"), "kernel/ascend910b is empty"),
        (("{k}/ascend910b/rms/k.o",), "kernel/config: No such file or directory"),
        (("{k}/ascend910b/k.o", "{k}/config/x"), "config/ascend910b: No such file or directory"),
        (("{k}/config/ascend910b/a.json",), "kernel/ascend910b: No such file or directory"),
        (("built-in/op_impl/vector_core/x",), "op_impl/ai_core: No such file or directory"),
        (("{k}/kernel/config/x",), "kernel has only another folder of its name"),
        (("{k}/x", "{k}/config/x"), "tbe/kernel has no folder of a chip"),
        ((), "opp/built-in: No such file or directory"),
    ],
)
def test_the_first_gap_in_the_folders_of_kernels_is_named(
    tmp_path: Path, files: tuple[str, ...], gap: str
) -> None:
    (tmp_path / "opp").mkdir()
    for name in files:
        path = tmp_path / "opp" / name.format(k=KERNELS)
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    found = gap_in_kernels(tmp_path / "opp")
    assert found.endswith(gap) if gap else not found


def test_a_folder_in_which_no_file_can_be_made_is_not_writable_whatever_its_mode(
    tmp_path: Path,
) -> None:
    row = next(row for row in variables() if row.name == "ASCEND_CACHE_PATH")
    # Root may write to every folder; a file system that is made by the kernel takes no files.
    refused = problem_of(Machine(environment={row.name: "/proc/ascend"}), row)
    assert refused is not None
    assert refused.outcome == "ENV-004.log"
    there = Machine(environment={row.name: str(tmp_path / "made" / "later")})
    assert problem_of(there, row) is None
    assert list(tmp_path.iterdir()) == []
