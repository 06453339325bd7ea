# SPDX-License-Identifier: Apache-2.0
"""The rooms that are mutated, how often, and the tests that must notice."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ROOMS", "Room"]


class Room(NamedTuple):
    """A part of the product, and its tests."""

    name: str

    number: int
    """Number of mutations."""

    files: tuple[str, ...]
    """Patterns of its sources below the root."""

    tests: tuple[str, ...]
    """The files and folders of tests, the quick ones first."""

    but: tuple[str, ...] = ()
    """Patterns of sources among these that are not mutated."""


def _python(name: str, number: int, tests: str, but: str = "") -> Room:
    """Return a room of the package by its name, with files and folders below tests/."""
    own = (f"pyaclnn/{name}.py", f"pyaclnn/{name}/**/*.py")
    left_out = tuple(f"pyaclnn/{name}/{part}" for part in but.split())
    return Room(name, number, own, tuple(f"tests/{part}" for part in tests.split()), left_out)


def _c(name: str, number: int, folder: str, tests: str) -> Room:
    """Return a part of the C side."""
    return Room(
        name, number, (f"{folder}/**/*.c",), tuple(f"tests/{part}" for part in tests.split())
    )


ROOMS = (
    _python(
        "base",
        15,
        "unit product/test_spelling.py product/test_home.py product/test_shell.py"
        " product/test_command.py concurrency/test_fork_during_import.py",
    ),
    _python(
        "facts",
        25,
        "unit operators test_accuracy.py api/test_signatures.py api/test_described.py"
        " architecture/test_rooms.py tiling/test_tmp_sizes.py doctor/command/test_explain.py",
        "explanations/*.py",
    ),
    _python("reference", 30, "reference mock_device ascendc_golden"),
    _python("cann", 20, "unit api installed"),
    _python(
        "mock",
        30,
        "mock_device operators/test_tables.py operators/test_checks.py"
        " mock_contract/test_command.py mock_contract/test_report.py"
        " headers/test_include_folder.py unit/test_simulation.py"
        " mock_libs/test_collectives.py mock_libs/test_single_operator.py mistakes",
        "python/**/*.py",
    ),
    _python("runtime", 35, "unit api product/test_configuration.py mistakes"),
    _python("calling", 35, "calling api mistakes"),
    _python(
        "ascendc",
        25,
        "tiling ascendc/test_command.py ascendc/test_cache.py ascendc/test_headers.py"
        " ascendc/test_faults.py ascendc/test_launches.py",
    ),
    _python("health", 40, "doctor installed fleet product/test_smoke.py", "report/pages.py"),
    _python("capture", 20, "capture"),
    _python(
        "bindgen",
        10,
        "bindgen unit/test_operator_headers.py",
    ),
    _c(
        "mock_libs/model",
        25,
        "mock_libs/model",
        "mock_libs mock_contract ascendc/test_launches.py",
    ),
    _c(
        "mock_libs/api",
        20,
        "mock_libs/api",
        "mock_libs mock_contract ascendc/test_launches.py",
    ),
    _c("capture/c", 10, "pyaclnn/capture", "capture"),
    _c(
        "bindgen/c",
        8,
        "pyaclnn/bindgen",
        "bindgen/test_convention.py api/test_launch.py api/test_plans.py calling/test_every_kind.py"
        " api/test_workspace.py api/test_nouns.py api/test_rebinding.py api/test_by_name.py"
        " api/test_sweep.py",
    ),
)
