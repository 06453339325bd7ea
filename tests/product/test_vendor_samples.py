# SPDX-License-Identifier: Apache-2.0
"""Sample programs printed in the vendor's documents compile and run unchanged.

The documents are not part of this project. Where they are at hand, PYACLNN_VENDOR_DOCUMENTS names
their folder; without it there is nothing to run here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .commands import compile_program, pyaclnn

_START = "#include <iostream>"
_FOLDER = os.environ.get("PYACLNN_VENDOR_DOCUMENTS")
_DOCUMENTS = sorted(Path(_FOLDER).glob("*")) if _FOLDER else []
SAMPLES = {
    path.stem: text[text.index(_START) :]
    for path in _DOCUMENTS
    if _START in (text := path.read_text(encoding="utf-8")) and "int main()" in text
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_of_rms_norm_grad_prints_what_it_must(name: str, tmp_path: Path) -> None:
    (tmp_path / "sample.cpp").write_text(SAMPLES[name], encoding="utf-8")
    compile_program(tmp_path / "sample.cpp", tmp_path / "sample")
    done = pyaclnn("mock", "run", "--", tmp_path / "sample")
    assert done.returncode == 0, done.stderr
    values = [float(v) for v in re.findall(r"is: (\S+)", done.stdout)]
    dx, dgamma = values[:32], values[32:]
    # Computed by hand from the operator's formula, in double precision.
    assert dx[:4] == [-1155, -2308, -3459, -4608]
    assert dx[15] == -18240
    assert dgamma == [
        579,
        652,
        731,
        816,
        907,
        1004,
        1107,
        1216,
        1331,
        1452,
        1579,
        1712,
        1851,
        1996,
        2147,
        2304,
    ]


@pytest.mark.skipif(not _FOLDER, reason="PYACLNN_VENDOR_DOCUMENTS names no folder")
def test_the_folder_has_a_sample() -> None:
    assert SAMPLES
