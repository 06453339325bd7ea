# SPDX-License-Identifier: Apache-2.0
"""Folder with the layout of a CANN installation, which links to the simulated NPU."""

from __future__ import annotations

import platform
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.cann.simulator import acldir, libdir, simulator
from pyaclnn.facts.releases import VARIABLE, has, simulated
from pyaclnn.mock.control.include_folder import write_include

if TYPE_CHECKING:
    import os

__all__ = ["build_home"]

# Parts that have a folder of their own in an installation, with what all of them share.
_PARTS = ("runtime", "compiler", "toolkit")
_SINCE_8_5 = ("runtime", "bisheng-compiler", "hccl", "oam-tools", "ops-legacy")
"""The packages whose versions ``aclsysGetCANNVersion`` of newer releases reads."""
_FIRST_AFTER_8_5 = "9.1"


def build_home(folder: str | os.PathLike[str]) -> Path:
    """Make a folder with the layout of an installed CANN.

    It has the following:

        lib64/                          links to what the package has, of the release
        include/                        the headers, which declare it unless told otherwise
        runtime/  compiler/  toolkit/   the same, as the parts of an installation have it
        opp/vendors/                    for packages of custom operators
        python/site-packages/           the stand-in for pyACL, ``acl``
        ascend_toolkit_install.info     the version, as installers write it
        share/info/                     the version of each package, where CANN is newer than 8.1
        set_env.sh                      ASCEND_HOME_PATH and what goes with it

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
    (home / "lib64").mkdir()
    for library in (simulator(), *sorted(libdir().glob("lib*.so"))):
        (home / "lib64" / library.name).symlink_to(library)
    write_include(home / "include", release)
    for part in _PARTS:
        (home / part).mkdir()
        (home / part / "lib64").symlink_to("../lib64")
        (home / part / "include").symlink_to("../include")
        (home / part / "version.info").write_text(f"Version={release.version}\n", encoding="utf-8")
    if has(release.name, _FIRST_AFTER_8_5):
        for package in _SINCE_8_5:
            place = home / "share" / "info" / package
            place.mkdir(parents=True)
            (place / "version.info").write_text(f"Version={release.version}\n", encoding="utf-8")
    (home / "opp" / "vendors").mkdir(parents=True)
    (home / "python").mkdir()
    (home / "python" / "site-packages").symlink_to(acldir())
    (home / "ascend_toolkit_install.info").write_text(
        f"package_name=Ascend-cann-toolkit\nversion={release.version}\narch={platform.machine()}\n"
        f"os=linux\npath={home}\n",
        encoding="utf-8",
    )
    (home / "set_env.sh").write_text(_set_env(home, release.name), encoding="utf-8")
    return home


def _set_env(home: Path, release: str) -> str:
    quoted = shlex.quote(str(home))
    lines = [
        "# The simulated NPU in the place of an installed CANN: source this file.",
        f"export ASCEND_TOOLKIT_HOME={quoted}",
        'export ASCEND_HOME_PATH="$ASCEND_TOOLKIT_HOME"',
        'export ASCEND_OPP_PATH="$ASCEND_TOOLKIT_HOME/opp"',
        'export ASCEND_AICPU_PATH="$ASCEND_TOOLKIT_HOME"',
        'export LD_LIBRARY_PATH="$ASCEND_TOOLKIT_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
        'export PYTHONPATH="$ASCEND_TOOLKIT_HOME/python/site-packages${PYTHONPATH:+:$PYTHONPATH}"',
        f"export PYACLNN_MOCK_PYTHON={shlex.quote(sys.executable)}",
        "export PYACLNN_BACKEND=mock",
        f"export {VARIABLE}={release}",
    ]
    return "\n".join(lines) + "\n"
