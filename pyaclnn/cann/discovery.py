# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PTH110, PTH112, PTH113  # pathlib raises for names that are too long
"""Candidate folders of CANN's libraries, derived from paths alone; nothing is opened here.

Both layouts are known: up to 8.3 under ``ascend-toolkit/latest`` with one ``libopapi.so``, and
since 8.5 under ``cann`` with ``libopapi_nn.so``, ``libopapi_math.so`` and so on.
Sources: CANN: set_env.sh of 8.1 and 9.1; CANN: runtime example/common/resolve_cann_env.sh;
op-plugin: op_api_common.h for the order in which operator libraries are searched; the packages of
CANN 8.1.RC1 and CANN: ops-nn for the places of headers.
"""

from __future__ import annotations

import platform
import re
from os.path import exists, isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.files import read_text
from pyaclnn.base.path_security import absolute_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "HOMES",
    "RUNTIME",
    "LibrarySet",
    "custom_operators",
    "custom_packages",
    "header_folders",
    "installation_roots",
    "is_for_linking",
    "library_sets",
    "loader_folders",
    "set_of",
]

HOMES: Final = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH")
"""The variables that may name an installation, best first."""

RUNTIME: Final = ("libascendcl.so", "libacl_rt.so")
"""The libraries that may have ``acl*`` and ``aclrt*``, best first."""
_BASE: Final = "libnnopbase.so"
_LARGEST_LIST: Final = 1 << 20
_MONOLITH: Final = "libopapi.so"
_MONOLITH_COMPANIONS: Final = ("ops_infer", "ops_train", "math", "sparse", "fft", "rand")
_SPLIT_ORDER: Final = ("math", "nn", "cv", "transformer", "oam", "ras", "legacy")
_STUBS: Final = re.compile(r"(?:^|/)(?:devlib|stubs?)(?:/linux)?(?:/(?:x86_64|aarch64))?/?$")
_CUSTOM: Final = Path("op_api", "lib", "libcust_opapi.so")
_BUILT_IN_HEADERS: Final = "opp/built-in/op_impl/ai_core/tbe/op_api/include"


class LibrarySet(NamedTuple):
    """The libraries of one directory, by group.

    Attributes:
        directory: The directory.
        runtime: Candidates for ``acl*`` and ``aclrt*``; the first that provides them is the one.
        base: ``libnnopbase.so``.
        operators: Existing operator libraries in search order, of one generation only: the split
            ones if there are any, the monolith with its companions otherwise.
    """

    directory: Path
    runtime: tuple[Path, ...]
    base: Path
    operators: tuple[Path, ...]


def installation_roots(environment: Mapping[str, str], home: Path, prefix: Path) -> list[Path]:
    """List the directories where a CANN may be installed, best first, without repetition.

    Args:
        environment: The environment variables.
        home: The user's home directory.
        prefix: The root of the Python environment, where conda packages install.

    Returns:
        The candidates, existing or not.
    """
    named = [Path(environment[name]) for name in HOMES if environment.get(name)]
    usual = [
        home / "Ascend" / "cann",
        home / "Ascend" / "ascend-toolkit" / "latest",
        Path("/usr/local/Ascend/cann"),
        Path("/usr/local/Ascend/ascend-toolkit/latest"),
        Path("/opt/Ascend/cann"),
        prefix / "Ascend" / "cann",
    ]
    return list(dict.fromkeys(named + usual))


def library_sets(root: Path, *, flat: bool = False) -> list[LibrarySet]:
    """List the library directories of a root, best first.

    Args:
        root: The root of an installation.
        flat: True if the libraries may lie in ``root`` itself.

    Returns:
        The sets of directories that have one of the libraries; if there are none, all places where
        they could be, to be reported.
    """
    inner = [root / "lib64", root / f"{platform.machine()}-linux" / "lib64"]
    directories = [root, *inner] if flat else inner
    found = [d for d in directories if any(exists(d / name) for name in (*RUNTIME, _BASE))]
    return [set_of(d) for d in found or directories]


def set_of(directory: Path) -> LibrarySet:
    """Return the libraries of one directory, whether they exist or not."""
    return LibrarySet(
        directory,
        tuple(directory / name for name in RUNTIME),
        directory / _BASE,
        tuple(_operators(directory)),
    )


def _operators(directory: Path) -> Iterator[Path]:
    if not isdir(directory):
        return
    split = {path.name: path for path in sorted(directory.glob("libopapi_*.so"))}
    if split:
        for area in _SPLIT_ORDER:
            known = split.pop(f"libopapi_{area}.so", None)
            if known is not None:
                yield known
        yield from split.values()
        return
    companions = (f"libaclnn_{area}.so" for area in _MONOLITH_COMPANIONS)
    yield from (path for name in (_MONOLITH, *companions) if exists(path := directory / name))


def loader_folders(environment: Mapping[str, str]) -> list[Path]:
    """List the folders of LD_LIBRARY_PATH in which a CANN may be, without repetition.

    The dynamic linker takes a relative or empty entry for the current folder; that is left out
    here, and so are the folders of stubs that are only there to link against.

    Args:
        environment: The environment variables.

    Returns:
        The folders that have the runtime library.
    """
    entries = re.split("[:;]", environment.get("LD_LIBRARY_PATH", ""))
    folders = [Path(entry) for entry in entries if entry.startswith("/")]
    return [
        folder
        for folder in dict.fromkeys(folders)
        if not is_for_linking(folder) and any(exists(folder / name) for name in RUNTIME)
    ]


def is_for_linking(folder: Path) -> bool:
    """Return whether a folder is one of stand-ins for linking, in which every call fails.

    Args:
        folder: The folder; ``devlib`` and ``stub`` may have one for each processor.
    """
    return bool(_STUBS.search(str(folder)))


def custom_operators(environment: Mapping[str, str], root: Path) -> list[Path]:
    """List the user's own operator packages, which come before those of CANN.

    Args:
        environment: The environment variables.
        root: The root of the installation, for the case that ASCEND_OPP_PATH is not set.

    Returns:
        Existing libraries: of ASCEND_CUSTOM_OPP_PATH in its order, then of ``vendors`` in the
        order of its ``config.ini``.
    """
    packages = custom_packages(environment, root)
    return [library for package in packages if isfile(library := package / _CUSTOM)]


def custom_packages(environment: Mapping[str, str], root: Path) -> list[Path]:
    """List the folders in which CANN looks for the user's own operators, in its order.

    Args:
        environment: The environment variables.
        root: The root of the installation, for the case that ASCEND_OPP_PATH is not set.
    """
    packages = absolute_folders("ASCEND_CUSTOM_OPP_PATH", environment)
    vendors = Path(environment.get("ASCEND_OPP_PATH") or root / "opp") / "vendors"
    return packages + [vendors / name for name in _vendor_priority(vendors / "config.ini")]


def header_folders(operators: Sequence[Path], root: Path) -> list[Path]:
    """List the folders with the headers of operator libraries, best first.

    Nothing but the installation that has the libraries is looked at: types of another one may
    differ from theirs.

    Args:
        operators: The operator libraries; of packages of the user's own too.
        root: The root of the installation, or the folder of libraries that was chosen.

    Returns:
        The folders that exist.
    """
    packages = [path.parents[1] / "include" for path in operators if path.match(str(_CUSTOM))]
    if root.name == "lib64":
        root = root.parents[1] if root.parent.name.endswith("-linux") else root.parent
    places = [root / place / "aclnnop" for place in (_BUILT_IN_HEADERS, "include")]
    places.append(root / f"{platform.machine()}-linux" / "include" / "aclnnop")
    found = [*packages, *(place / part for place in places for part in ("", "level2"))]
    return list(dict.fromkeys(folder for folder in found if isdir(folder)))


def _vendor_priority(path: Path) -> list[str]:
    try:
        text = read_text(path, "a list of packages", most=_LARGEST_LIST)
    except (OSError, UnicodeDecodeError):
        return []
    import configparser  # noqa: PLC0415  # most have no such file

    # It has no section of its own: it is one line, load_priority=a,b.
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(f"[vendors]\n{text}")
    except configparser.Error:
        return []
    names = parser.get("vendors", "load_priority", fallback="")
    return [name.strip() for name in names.split(",") if name.strip()]
