# SPDX-License-Identifier: Apache-2.0
"""The first failing rank of a run, from the logs of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.cli import main
from pyaclnn.health.explain.ranks import files_of, read_ranks

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WAITS = (
    "[INFO] 2026-05-21 12:00:00,100 step 7\n"
    "EI0002: [PID: 1] 2026-05-21-12:30:01.123.456 The wait execution of the Notify register times "
    "out.\n"
)
BREAKS = (
    "2026-05-21 12:00:00,100 INFO step 7\n"
    "2026-05-21 12:00:03,250 INFO step 8\n"
    "Traceback (most recent call last):\n"
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 29.50 GiB total)\n"
)
ENDS = "[INFO] 2026-05-21 12:00:02,100 step 7\n"


def run_of(folder: Path, **logs: str) -> Path:
    for name, text in logs.items():
        (folder / "logs" / name).mkdir(parents=True)
        (folder / "logs" / name / "stderr.log").write_text(text)
    return folder / "logs"


def test_the_rank_that_failed_first_comes_first(tmp_path: Path) -> None:
    found = read_ranks(files_of(run_of(tmp_path, a0=WAITS, b1=BREAKS, c2=ENDS)))
    assert [rank.name.split("/")[-2] for rank in found] == ["b1", "a0", "c2"]
    # The line of the failure has no time: that of the last line before it counts.
    assert found[0].failed == "2026-05-21 12:00:03.250000"
    assert found[1].failed == "2026-05-21 12:30:01.123456"
    assert (found[2].line, found[2].ended) == ("", "2026-05-21 12:00:02.100000")


def test_ranks_of_one_log_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "all.log"
    path.write_text(
        "[ERROR] 2026-05-21-12:00:09 (PID:3, Device:3, RankID:3) ERR02200 DIST call failed.\n"
        "[rank5]: 2026-05-21 12:00:04 RuntimeError: ACL stream synchronize failed\n"
        "[rank5]: error code is 507015\n"
    )
    first, second = read_ranks([path])
    assert (first.name, second.name) == (f"{path}, rank 5", f"{path}, rank 3")


def test_the_command_names_it_and_explains_its_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = run_of(tmp_path, a0=WAITS, b1=BREAKS)
    assert main(["explain", str(folder)]) == 0
    out = capfd.readouterr().out
    assert out.index("failed first: 2026-05-21 12:00:03") < out.index("then: 2026-05-21 12:30:01")
    assert "b1/stderr.log" in out.partition("then:")[0]
    assert "smaller batch" in out
    assert "HCCL_EXEC_TIMEOUT" not in out  # the failure that followed from it


def test_a_run_in_which_nothing_failed_is_no_success(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "0.log").write_text(ENDS)
    (tmp_path / "1.log").write_text(ENDS)
    assert main(["explain", *map(str, sorted(tmp_path.iterdir()))]) == 1
    assert "no failure in" in capfd.readouterr().out
