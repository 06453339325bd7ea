# SPDX-License-Identifier: Apache-2.0
"""Folder with the layout of a CANN installation, which links to the simulated NPU."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.cann.packaged import packaged_file
from pyaclnn.cann.simulator import acldir, libdir, simulator
from pyaclnn.facts.releases import VARIABLE, has, simulated
from pyaclnn.mock.control.build_files import write_build_files
from pyaclnn.mock.control.include_folder import write_include

if TYPE_CHECKING:
    import os

    from pyaclnn.facts.releases import Release

__all__ = ["build_home"]

# Parts that have a folder of their own in an installation, with what all of them share; the last
# ones by the names of older releases, which build scripts still look for.
_PARTS = ("runtime", "compiler", "toolkit", "hccl", "acllib", "fwkacllib", "atc")
_PACKAGES = ("runtime", "compiler", "hccl", "opp", "toolkit", "opp_kernel")
"""The packages of ``version.cfg``."""
_COMMANDS = {
    "npu-smi": "pyaclnn.mock.control.npu_smi",
    "bisheng": "pyaclnn ascendc compile",
}
"""The commands of ``bin``, and the modules that they are."""
_MODULES = "tikcpp/ascendc_kernel_cmake"
_CMAKE = (
    *("ascendc.cmake", "FindASC.cmake", "CMakeASCCompiler.cmake.in"),
    *(f"CMake{name}.cmake" for name in ("DetermineASCCompiler", "ASCInformation")),
    "CMakeTestASCCompiler.cmake",
)
"""The modules of CMake in the folder above."""
_SINCE_8_5 = ("runtime", "bisheng-compiler", "hccl", "oam-tools", "ops-legacy")
"""The packages whose versions ``aclsysGetCANNVersion`` of newer releases reads."""
_FIRST_AFTER_8_5 = "9.1"
_LINKED_ONLY = {
    "libascendcl.so": """
    acl_dvpp acl_dvpp_mpi acl_rt acl_tdt_channel acl_tdt_queue ascend_dump ascend_hal ascendalog
    ascendc_acl_stub drv_dvpp error_manager hccl_alg hccl_plf lowering
    msprofiler opp_registry profapi profimpl rt2_registry runtime_common slog tiling_api
    """,
    "libgraph.so": """
    c_sec exe_graph fmk_onnx_parser ge_common ge_common_base ge_compiler graph_base llm_datadist
    metadef mmpa platform register unified_dlog
    """,
}
"""Library -> the libraries in the place of which it stands: build scripts and programs name them,
and call none of their functions or only such that refuse."""


def build_home(folder: str | os.PathLike[str]) -> Path:
    """Make a folder with the layout of an installed CANN.

    It has the following:

        lib64/                          links to what the package has, of the release, and under
                                        the names of libraries that programs only link
        lib64/cmake/  lib64/pkgconfig/  the packages of `cmakedir` and `pkgconfigdir`; CMake finds
                                        the former in share/cmake/, because PATH has bin/
        include/                        the headers, which declare it unless told otherwise
        runtime/  compiler/  ...        the same, as the parts of an installation have it
        x86_64-linux/ or aarch64-linux/ the same, with the libraries for linking in devlib
        latest/                         the folder itself
        opp/vendors/                    for packages of custom operators
        opp/version.info  version.cfg   the version of each package, as 8.1 has it
        python/site-packages/           the stand-in for pyACL, ``acl``
        ascend_toolkit_install.info     the version, as installers write it
        share/info/                     the version of each package, where CANN is newer than 8.1
        set_env.sh  bin/setenv.bash     ASCEND_HOME_PATH and what goes with it
        tikcpp/ascendc_kernel_cmake/    ascendc.cmake and the language ASC of CMake, which build
                                        kernels for the host by bin/bisheng
        tools/tikicpulib/lib/cmake/     the package tikicpulib, with which samples run on the CPU
        bin/npu-smi                     a stand-in, which describes the simulated chips

    The links lead into this installation of pyaclnn: when that goes, so does the home.

    Args:
        folder: The folder; it is made if needed, and must not hold anything.

    Returns:
        The folder, absolute.

    Raises:
        FileExistsError: The folder holds something.
        OSError: It cannot be made.
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
    """
    home, release = Path(folder).absolute(), simulated()
    home.mkdir(parents=True, exist_ok=True)
    if any(home.iterdir()):
        raise FileExistsError(f"'{home}' is not empty; name a folder that does not exist yet")
    try:
        _fill(home, release)
    except BaseException:  # Ctrl-C too: half a home would be refused the next time
        for child in home.iterdir():
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child, ignore_errors=True)
            else:
                child.unlink()
        raise
    return home


def _fill(home: Path, release: Release) -> None:
    """Make what is in the home."""
    (home / "lib64").mkdir()
    for library in (simulator(), *sorted(libdir().glob("lib*.so"))):
        (home / "lib64" / library.name).symlink_to(library)
    for present, names in _LINKED_ONLY.items():
        for name in names.split():
            linked = home / "lib64" / f"lib{name}.so"
            if not linked.exists():
                linked.symlink_to(present)
    write_include(home / "include", release)
    write_build_files(home / "lib64", home / "include", home / "lib64", release)
    architecture = f"{platform.machine()}-linux"
    links: dict[str, str | Path] = {
        **{f"{part}/{name}": f"../{name}" for part in _PARTS for name in ("lib64", "include")},
        **{f"{architecture}/{name}": f"../{name}" for name in ("lib64", "include")},
        f"{architecture}/devlib": "../lib64",
        "lib64/stub": ".",
        "latest": ".",
        "share/cmake/pyaclnn": "../../lib64/cmake/pyaclnn",
        "python/site-packages": acldir(),
        **{f"tools/mstx/{name}": f"../../{name}" for name in ("lib64", "include")},
    }
    for name, target in links.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).symlink_to(target)
    (home / "opp" / "vendors").mkdir(parents=True)
    for name, text in _files(home, release, architecture).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    for name in ("tools", "compiler", architecture):
        (home / name).mkdir(exist_ok=True)
        (home / name / "tikcpp").symlink_to(home / "tikcpp")
    for name in _COMMANDS:
        (home / "bin" / name).chmod(0o755)


def _files(home: Path, release: Release, architecture: str) -> dict[str, str]:
    """Return the texts of the home by their paths."""
    version = f"Version={release.version}\n"
    newer = _SINCE_8_5 if has(release.name, _FIRST_AFTER_8_5) else ()
    installed = (
        f"package_name=Ascend-cann-toolkit\nversion={release.version}\narch={platform.machine()}\n"
        f"os=linux\npath={home}\n"
    )
    states = (
        f"{package}_{state}_version=[{release.version}:{release.version}]\n"
        for package in _PACKAGES
        for state in ("running", "upgrade", "installed")
    )
    return {
        **{f"{part}/version.info": version for part in (*_PARTS, "opp")},
        **{f"share/info/{package}/version.info": version for package in newer},
        "ascend_toolkit_install.info": installed,
        f"{architecture}/ascend_toolkit_install.info": installed,
        "version.cfg": f"# version: 1.0\n{''.join(states)}",
        "set_env.sh": _set_env(home, release.name),
        **{f"{_MODULES}/{name}": _cmake(home, name) for name in _CMAKE},
        "share/cmake/ASC/ASCConfig.cmake": _cmake(home, "FindASC.cmake"),
        "tools/tikicpulib/lib/cmake/tikicpulib-config.cmake": _cmake(
            home, "tikicpulib-config.cmake"
        ),
        **{
            f"bin/{name}": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n'
            for name, module in _COMMANDS.items()
        },
        "bin/setenv.bash": f". {shlex.quote(str(home / 'set_env.sh'))}\n",
    }


def _cmake(home: Path, name: str) -> str:
    text = Path(packaged_file(f"mock/control/cmake/{name}")).read_text(encoding="utf-8")
    return text.replace("@PYTHON@", sys.executable).replace("@HOME@", str(home))


def _set_env(home: Path, release: str) -> str:
    quoted = shlex.quote(str(home))
    lines = [
        "# The simulated NPU in the place of an installed CANN: source this file.",
        f"export ASCEND_TOOLKIT_HOME={quoted}",
        'export ASCEND_HOME_PATH="$ASCEND_TOOLKIT_HOME"',
        'export ASCEND_OPP_PATH="$ASCEND_TOOLKIT_HOME/opp"',
        'export ASCEND_AICPU_PATH="$ASCEND_TOOLKIT_HOME"',
        'export TOOLCHAIN_HOME="$ASCEND_TOOLKIT_HOME/toolkit"',
        'export PATH="$ASCEND_TOOLKIT_HOME/bin${PATH:+:$PATH}"',
        'export LD_LIBRARY_PATH="$ASCEND_TOOLKIT_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
        'export PYTHONPATH="$ASCEND_TOOLKIT_HOME/python/site-packages${PYTHONPATH:+:$PYTHONPATH}"',
        f"export PYACLNN_MOCK_PYTHON={shlex.quote(sys.executable)}",
        "export PYACLNN_BACKEND=mock",
        f"export {VARIABLE}={release}",
    ]
    return "\n".join(lines) + "\n"
