# SPDX-License-Identifier: Apache-2.0
"""Files by which build systems find the simulated NPU: a CMake package and one of pkg-config."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pyaclnn.base.folders import cache_folder, make_private
from pyaclnn.cann.simulator import libdir
from pyaclnn.facts.releases import simulated
from pyaclnn.mock.control.include_folder import includedir

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.facts.releases import Release

__all__ = ["CMAKE", "PKGCONFIG", "cmakedir", "pkgconfigdir", "write_build_files"]

CMAKE = "cmake/pyaclnn"
"""The folder of the CMake package, below that of the libraries."""
PKGCONFIG = "pkgconfig"
"""The folder of the file of pkg-config, likewise."""

_CMAKE = """\
# Target of the simulated NPU: target_link_libraries(program PRIVATE pyaclnn::pyaclnn).
if(NOT TARGET pyaclnn::pyaclnn)
  add_library(pyaclnn::pyaclnn INTERFACE IMPORTED)
  set_target_properties(pyaclnn::pyaclnn PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES [[{include};{include}/aclnnop]]
    INTERFACE_COMPILE_DEFINITIONS ACL_STUBS_CANN={headers}
    INTERFACE_LINK_LIBRARIES [[{linked}]]
    INTERFACE_LINK_OPTIONS [[LINKER:-rpath,{libraries}]])
endif()
"""
_CMAKE_VERSION = """\
set(PACKAGE_VERSION {number})
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""
_PKGCONFIG = """\
Name: pyaclnn
Description: CANN {version} on the simulated NPU
Version: {number}
Cflags: -I"{include}" -I"{include}/aclnnop" -DACL_STUBS_CANN={headers}
Libs: -L"{libraries}" -Wl,-rpath,"{libraries}" {options}
"""


def cmakedir() -> Path:
    """The folder of the CMake package ``pyaclnn``, for ``-Dpyaclnn_DIR``.

    ``find_package(pyaclnn)`` then defines the target ``pyaclnn::pyaclnn``, of the release of CANN
    that is simulated now. It lies below ``$XDG_CACHE_HOME/pyaclnn/cmake``.

    Raises:
        FileNotFoundError: The installation is incomplete.
        OSError: The folder cannot be made.
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
    """
    return _kept() / CMAKE


def pkgconfigdir() -> Path:
    """The folder of ``pyaclnn.pc``, for ``PKG_CONFIG_PATH``; see :func:`cmakedir`.

    Raises:
        FileNotFoundError: The installation is incomplete.
        OSError: The folder cannot be made.
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
    """
    return _kept() / PKGCONFIG


def write_build_files(folder: Path, include: Path, libraries: Path, release: Release) -> None:
    """Write the files of both build systems.

    Args:
        folder: The folder above theirs; it is made if needed.
        include: The folder of the headers.
        libraries: The folder of the libraries.
        release: The release of CANN.
    """
    for name, text in _texts(include, libraries, release).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _kept() -> Path:
    include, libraries, release = includedir(), libdir(), simulated()
    texts = _texts(include, libraries, release)
    cache = cache_folder("cmake")
    folder = cache / hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    if not make_private(cache) or not all((folder / name).is_file() for name in texts):
        write_build_files(folder, include, libraries, release)
    return folder


def _texts(include: Path, libraries: Path, release: Release) -> dict[str, str]:
    words = {
        "include": include,
        "libraries": libraries,
        "headers": release.headers,
        "version": release.version,
        "number": release.name,
        "linked": ";".join(f"{libraries}/lib{name}.so" for name in release.libraries),
        "options": " ".join(f"-l{name}" for name in release.libraries),
    }
    return {
        f"{CMAKE}/pyaclnn-config.cmake": _CMAKE.format(**words),
        f"{CMAKE}/pyaclnn-config-version.cmake": _CMAKE_VERSION.format(**words),
        f"{PKGCONFIG}/pyaclnn.pc": _PKGCONFIG.format(**words),
    }
