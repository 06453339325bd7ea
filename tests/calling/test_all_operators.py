# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN 8.1 can be called by name, and its arguments arrive as they were given."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.operators.catalogue import catalogue
from tests.calling import everyone
from tests.calling.telling import build

if TYPE_CHECKING:
    from pathlib import Path

OLD = [name for name, entry in catalogue().items() if "8.1" in entry.releases]
SAMPLE = sorted(
    {
        *OLD[::60],
        *("aclnnAdd", "aclnnInplaceFillScalar", "aclnnCat", "aclnnSplitTensor", "aclnnTopk"),
        *("aclnnForeachAddScalarList", "aclnnResize", "aclnnNonzero", "aclnnFlashAttentionScore"),
        *("aclnnFusedInferAttentionScoreV3", "aclnnCast", "aclnnConvolution", "aclnnIndex"),
    }
)
A_PROCESS = 200


def call(folder: Path, names: list[str]) -> str:
    libraries = build(folder, names)
    told = [
        subprocess.run(
            [sys.executable, "-W", "error", everyone.__file__, str(libraries), *names],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    ]
    assert [done.stderr for done in told] == [""]
    return told[0].stdout


def test_the_arguments_of_operators_of_all_kinds_arrive(tmp_path: Path) -> None:
    assert call(tmp_path, SAMPLE) == f"{len(SAMPLE)}\n"


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(0, len(OLD), A_PROCESS))
def test_the_arguments_of_every_operator_arrive(start: int, tmp_path: Path) -> None:
    names = OLD[start : start + A_PROCESS]
    assert call(tmp_path, names) == f"{len(names)}\n"
