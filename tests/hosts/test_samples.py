# SPDX-License-Identifier: Apache-2.0
"""Samples of CANN, which are not stored here: those below the folders of PYACLNN_TEST_SAMPLES.

A sample is a folder with ``run.sh`` or ``CMakeLists.txt``, or a source file on its own. It must run
to its end, or be refused by 999001.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import build_home
from tests.conftest import COUNTED

from .conftest import RELEASE, in_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDERS = os.environ.get("PYACLNN_TEST_SAMPLES", "")
CHIP = "Ascend910B3"
SCRIPTS = {
    "run.sh": f"bash run.sh -r npu -v {CHIP}",
    "CMakeLists.txt": (
        f"cmake -B build -DSOC_VERSION={CHIP} -DASCEND_CANN_PACKAGE_PATH=$ASCEND_HOME_PATH; "
        "cmake --build build; find build -type f -executable ! -path '*/CMakeFiles/*' "
        "! -name '*.so*' -print0 | xargs -0 -n 1 env"
    ),
}
ALONE = (
    "bisheng -O1 {0} -o program -lpthread -Wl,--as-needed $ASCEND_HOME_PATH/lib64/*.so; ./program"
)
SOURCES = {".asc", ".cpp", ".cc"}
REFUSED = re.compile(r"\b999001\b|not implemented by the simulated NPU")


def samples(folder: Path) -> Iterator[tuple[Path, str]]:
    """Find the samples below a folder, and the script of each."""
    for name, script in SCRIPTS.items():
        if (folder / name).is_file():
            yield folder, script
            return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from samples(path)
        elif path.suffix in SOURCES and re.search(r"\bmain\s*\(", path.read_text("utf-8")):
            yield path, ALONE.format(path.name)


def attempt(sample: Path, script: str, home: Path, work: Path) -> tuple[str, str]:
    """Build and run a copy of a sample; return what came of it, and what it printed last."""
    folder = sample if sample.is_dir() else sample.parent
    shutil.copytree(folder, work, ignore=shutil.ignore_patterns("build", "out"))
    done = in_home(home, "bash", "-euc", f'cd "$0"; {script}', work, seconds=600)
    printed = done.stdout + done.stderr
    if done.returncode == 0:
        return "ran", ""
    return ("refused" if REFUSED.search(printed) else "failed"), printed[-1500:]


@pytest.mark.skipif(not FOLDERS, reason="PYACLNN_TEST_SAMPLES names no folders")
def test_samples_run_or_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_CANN", RELEASE)
    home = build_home(tmp_path / "cann")
    found = [each for folder in FOLDERS.split(os.pathsep) for each in samples(Path(folder))]
    assert found
    counts: Counter[str] = Counter()
    failed = {}
    for number, (sample, script) in enumerate(found):
        outcome, printed = attempt(sample, script, home, tmp_path / str(number))
        counts[outcome] += 1
        if outcome == "failed":
            failed[str(sample)] = printed
    assert failed == {}, counts
    for outcome, number in counts.items():
        record_property(COUNTED, [f"samples of {len(found)} {outcome}", number])
