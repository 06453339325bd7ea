# SPDX-License-Identifier: Apache-2.0
"""Paths of the simulated NPU, and the arguments of compilers and linkers for them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import BackendNotFoundError
from pyaclnn.cann.packaged import packaged_file
from pyaclnn.facts.releases import VARIABLE, simulated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.releases import Release

__all__ = [
    "FRONTS",
    "acldir",
    "captured_folders",
    "environment",
    "ldflags",
    "libdir",
    "simulator",
    "writtendir",
]


FRONTS: Final = "PYACLNN_CAPTURE_FRONTS"
"""The environment variable of captured programs: the folder of libraries, and that in front."""


def captured_folders(base: Mapping[str, str]) -> tuple[str, str]:
    """Return the folder that a capture records, and that of its libraries in front; or nothing."""
    captured, _, front = base.get(FRONTS, "").partition(os.pathsep)
    return captured, front


def _folder_of(name: str) -> Path:
    """The real folder of a packaged file."""
    return Path(packaged_file(name)).parent


def libdir() -> Path:
    """The folder of ``libascendcl.so`` and its like, of the release that is simulated.

    Raises:
        FileNotFoundError: The installation is incomplete.
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
    """
    return _libraries_of(simulated())


def _libraries_of(release: Release) -> Path:
    return _folder_of(f"mock/lib/{release.name}/libascendcl.so")


def simulator() -> Path:
    """The library behind those of every release, which find it beside them or a folder above.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    return Path(packaged_file("mock/lib/libpyaclnn_simulator.so"))


def writtendir() -> Path:
    """The folder of the headers that are written by hand: all but those of most operators.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    return _folder_of("include_stubs/acl/acl.h").parent


def acldir() -> Path:
    """The folder to put on Python's path so that ``import acl`` finds the stand-in for pyACL.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    return _folder_of("mock/python/acl/__init__.py").parent


def ldflags() -> list[str]:
    """Linker arguments of a program for the simulated NPU, which then finds it by itself."""
    directory = libdir()
    return [
        f"-L{directory}",
        f"-Wl,-rpath,{directory}",
        *(f"-l{name}" for name in simulated().libraries),
    ]


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment in which any program runs on the simulated NPU.

    Args:
        base: The environment to start from, which may name a release; it is not changed.

    Returns:
        The same with the libraries first in ``LD_LIBRARY_PATH``, the stand-in for pyACL first in
        ``PYTHONPATH``, this interpreter for the device process, and the simulated NPU as the
        backend of programs that use pyaclnn.

    Raises:
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
        BackendNotFoundError: A capture around the program records other libraries.
    """
    release = simulated(base)
    libraries = str(_libraries_of(release))
    captured, front = captured_folders(base)
    if captured not in {"", libraries}:
        found = f"The capture around this program records {captured}, and not {libraries}"
        hint = "Hint: run 'pyaclnn mock run pyaclnn capture -o FILE -- PROGRAM'."
        attempts = [(captured, "is captured")]
        raise BackendNotFoundError(f"{found}.\n{hint}", attempts=attempts)
    path = filter(None, [front, libraries, base.get("LD_LIBRARY_PATH")])
    python = [str(acldir()), *filter(None, [base.get("PYTHONPATH")])]
    return {
        **base,
        "PYTHONPATH": ":".join(python),
        "LD_LIBRARY_PATH": ":".join(path),
        "PYACLNN_MOCK_PYTHON": sys.executable,
        "PYACLNN_BACKEND": front or "mock",
        VARIABLE: release.name,
    }
