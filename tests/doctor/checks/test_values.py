# SPDX-License-Identifier: Apache-2.0
"""Values that no installer writes are findings about the machine, not failures of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from pyaclnn.health.checks.digits import whole_number
from pyaclnn.health.command.run import run
from pyaclnn.health.report.verdict import problems
from tests.doctor.case import QUICK
from tests.doctor.installations import KERNELS, Fabricated, healthy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.doctor.parts import Parts

LONG: Final = "9" * 5000
"""More digits than Python makes an integer of."""
LIST: Final = f"{KERNELS}/config/ascend910b/binary_info_config.json"


def _deep(made: Fabricated) -> None:
    (made.opp / LIST).write_text("[" * 200_000)


def _long_driver(made: Fabricated) -> None:
    (made.driver / "version.info").write_text(f"Version={LONG}\n")


def _long_cann(made: Fabricated) -> None:
    path = made.cann / "version.cfg"
    path.write_text(path.read_text().replace("8.1.RC1", f"8.1.RC{LONG}"))


def _in_variable(name: str, text: str) -> Callable[[Fabricated], None]:
    return lambda made: made.environment.update({name: text})


def _home(place: str) -> Callable[[Fabricated], None]:
    return lambda made: made.environment.update(ASCEND_HOME_PATH=str(made.cann / place))


def _file_for_folder(made: Fabricated) -> None:
    made.cann.unlink()
    made.cann.write_text("")


def _no_libraries(made: Fabricated) -> None:
    made.lib64.resolve().rename(made.root / "elsewhere")


VALUES: Final = [
    ("a list of kernels that is nested deeply", _deep, "CANN-006", "nested too deeply"),
    ("a driver's version of many digits", _long_driver, "", ""),
    ("a version of many digits", _long_cann, "", ""),
    (
        "a device of many digits",
        _in_variable("ASCEND_RT_VISIBLE_DEVICES", LONG),
        "ENV-002",
        "there is no device 99",
    ),
    ("the folder above for a home", _home(".."), "ENV-001", "which has no lib64"),
    ("the folder of libraries for a home", _home("lib64"), "ENV-001", "which has no lib64"),
    ("a file for an installation", _file_for_folder, "CANN-001", "latest, which is no folder"),
    (
        "an installation without libraries",
        _no_libraries,
        "CANN-001",
        "none of CANN's libraries in lib64, x86_64-linux/lib64",
    ),
]


@pytest.mark.parametrize(
    ("broken", "check", "words"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES]
)
def test_a_value_that_no_installer_writes_is_a_finding(
    parts: Parts, tmp_path: Path, broken: Callable[[Fabricated], None], check: str, words: str
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    broken(made)
    found = problems(run(QUICK, machine=made.machine()).results)
    assert [each.summary for each in found if "the check itself failed" in each.summary] == []
    assert [found[0].id, words in found[0].summary] == [check, True] if check else not found


NUMBERS: Final = [
    ("0", 0),
    ("0012", 12),
    ("123456789012345678", 123456789012345678),
    ("0" * 5000 + "7", 7),
    (LONG, 10**18 - 1),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS, ids=[text[:20] for text, _ in NUMBERS])
def test_a_number_of_any_length_is_read_up_to_a_largest_one(text: str, number: int) -> None:
    assert whole_number(text) == number
