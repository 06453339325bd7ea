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
        "unit/test_files.py unit/test_elf.py unit/test_errors.py unit/test_limits.py"
        " unit/test_trust.py"
        " unit/test_folders.py unit/test_package.py product/test_spelling.py"
        " product/test_home.py product/test_shell.py product/test_command.py"
        " concurrency/test_fork_during_import.py",
    ),
    _python(
        "facts",
        25,
        "unit/test_chips.py unit/test_workspace_sizes.py unit/test_catalogue.py"
        " unit/test_directions.py test_accuracy.py operators/test_found.py"
        " operators/test_tables.py operators/test_checks.py api/test_signatures.py"
        " api/test_described.py architecture/test_rooms.py tiling/test_tmp_sizes.py"
        " doctor/command/test_explain.py",
        "explanations/*.py",
    ),
    _python("reference", 30, "reference mock_device/test_kernels.py ascendc_golden"),
    _python(
        "cann",
        20,
        "unit/test_discovery.py unit/test_installed_headers.py unit/test_operator_headers.py"
        " unit/test_trust.py api/test_backend.py api/test_trace.py api/test_setup_mistakes.py"
        " api/test_texts.py api/test_joining.py api/test_waiting.py unit/test_loaded_libraries.py"
        " installed",
    ),
    _python(
        "mock",
        30,
        "mock_device operators/test_tables.py operators/test_checks.py"
        " mock_contract/test_command.py mock_contract/test_report.py"
        " headers/test_include_folder.py unit/test_simulation.py"
        " mock_libs/test_collectives.py",
        "python/**/*.py",
    ),
    _python(
        "runtime",
        35,
        "unit/test_shapes.py unit/test_dtypes.py unit/test_handle.py unit/test_timeline.py"
        " unit/test_timeout.py api/test_array.py api/test_elements.py api/test_nouns.py"
        " api/test_pool.py api/test_idle_budget.py api/test_stream.py api/test_dlpack.py"
        " api/test_creation.py api/test_workspace.py api/test_waiting.py api/test_texts.py"
        " api/test_foreign_streams.py api/test_guests.py api/test_reading.py api/test_lending.py"
        " api/test_asyncio.py product/test_configuration.py",
    ),
    _python(
        "calling",
        35,
        "api/test_refusals.py api/test_plans.py api/test_launch.py api/test_fast_path.py"
        " api/test_by_name.py api/test_described.py api/test_signatures.py api/test_result_types.py"
        " calling/test_inference.py api/test_arguments.py api/test_foreach_norm.py"
        " api/test_layer_norm.py",
    ),
    _python(
        "ascendc",
        25,
        "tiling ascendc/test_command.py ascendc/test_cache.py ascendc/test_headers.py",
    ),
    _python("health", 40, "doctor installed fleet product/test_smoke.py", "report/pages.py"),
    _python("capture", 20, "capture"),
    _python(
        "bindgen",
        10,
        "bindgen/test_generators.py bindgen/test_reader.py unit/test_operator_headers.py",
    ),
    _c(
        "mock_libs/model",
        25,
        "mock_libs/model",
        "mock_libs/test_streams.py mock_libs/test_events.py mock_libs/test_memory.py"
        " mock_libs/test_copies.py mock_libs/test_devices.py mock_libs/test_contexts.py"
        " mock_libs/test_executors.py mock_libs/test_capture.py mock_libs/test_virtual_memory.py"
        " mock_libs/test_collectives.py mock_libs/test_callbacks.py mock_contract",
    ),
    _c(
        "mock_libs/api",
        20,
        "mock_libs/api",
        "mock_libs/test_streams.py mock_libs/test_events.py mock_libs/test_memory.py"
        " mock_libs/test_copies.py mock_libs/test_devices.py mock_libs/test_contexts.py"
        " mock_libs/test_executors.py mock_libs/test_members.py mock_libs/test_errors.py"
        " mock_libs/test_virtual_memory.py mock_libs/test_objects.py mock_libs/test_packages.py"
        " mock_libs/test_collectives.py mock_contract",
    ),
    _c("capture/c", 10, "pyaclnn/capture", "capture"),
    _c(
        "bindgen/c",
        8,
        "pyaclnn/bindgen",
        "api/test_launch.py api/test_plans.py calling/test_every_kind.py api/test_workspace.py"
        " api/test_nouns.py",
    ),
)
