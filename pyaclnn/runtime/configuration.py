# SPDX-License-Identifier: Apache-2.0
"""Configuration report: versions, paths, variables, libraries, the chip."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from pyaclnn.base.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from pyaclnn.cann.search import Backend

    Value: TypeAlias = str | list[str] | dict[str, str]

__all__ = ["configuration", "show_config", "version_line"]

_VARIABLES: Final = ("PYACLNN_", "ASCEND_", "ACLNN_", "ACL_", "ATB_", "HCCL_", "LD_LIBRARY_PATH",
                     "PYTHONPATH", "DISABLE_L2_CACHE")  # fmt: skip
"""Beginnings of the names of the variables that CANN and this package read."""

_PACKAGES: Final = (
    "numpy",
    "ml_dtypes",
    "cffi",
    "rich",
    "msgspec",
    "jinja2",
    "pcpp",
    "pycparser",
    "torch",
    "torch_npu",
)
_NONE: Final = {
    "variable": ["none of CANN or pyaclnn is set"],
    "loaded": ["none of CANN's libraries is in this process"],
}
"""Texts of the lines about names without any value."""
_WIDTH: Final = 12
_IN_CONTAINERS: Final = (".dockerenv", "run/.containerenv")


def version_line() -> str:
    """Return one line: version, commit if there is one, Python, NumPy, the backend.

    Returns:
        The line. No library is opened, so the backend is the one that would be.
    """
    found = commit()
    return ", ".join(
        [
            f"pyaclnn {version('pyaclnn')}{f' (commit {found})' if found else ''}",
            f"Python {platform.python_version()}",
            f"NumPy {_version_of('numpy')}",
            f"backend {_wanted()}",
        ]
    )


def show_config() -> None:
    """Print what one has to know to understand a report about this process, to be pasted into it.

    Versions, paths, variables of CANN and this package, the backend with its libraries and chip,
    and which of CANN's libraries are in this process. No backend is loaded that was not loaded
    before. The home folder is written as ``~``.

    Examples:
        >>> pyaclnn.show_config()  # doctest: +ELLIPSIS
        pyaclnn...
    """
    sys.stdout.write(configuration(load=False))


def configuration(*, load: bool, as_json: bool = False) -> str:
    """Return the text of ``show_config``.

    Args:
        load: True to load the backend if none is loaded yet.
        as_json: True for a JSON object instead of lines.

    Returns:
        Lines of a name and a value; as JSON, variables are an object and paths are lists.
    """
    found = [*_versions(), *_machine(), *_variables(), *_backend(load=load), *_residents()]
    if as_json:
        text = json.dumps(dict(found), indent=2, ensure_ascii=False) + "\n"
    else:
        rows = ((name, row) for name, value in found for row in _rows(name, value))
        text = "".join(f"{name:{_WIDTH}}  {_indented(row)}\n" for name, row in rows)
    home = str(Path.home()) if os.environ.get("HOME") else ""
    return text.replace(f"{home}/", "~/") if len(home) > 1 else text


def _rows(name: str, value: Value) -> list[str]:
    """Return the values of the lines about one name."""
    if isinstance(value, dict):
        value = [f"{key}={of_key}" for key, of_key in value.items()]
    return [value] if isinstance(value, str) else value or _NONE.get(name, [])


def commit() -> str:
    """Return the commit that is installed, as far as the installation knows; else nothing."""
    text = distribution("pyaclnn").read_text("direct_url.json")
    origin = json.loads(text) if text else {}
    if "vcs_info" in origin:
        return str(origin["vcs_info"].get("commit_id", ""))[:12]
    if not origin.get("dir_info", {}).get("editable"):
        return ""
    command = ["git", "-C", unquote(urlsplit(origin["url"]).path), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(  # noqa: S603  # fixed words and the folder of this package
            command, capture_output=True, text=True, check=False, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[:12].strip()


def _versions() -> Iterator[tuple[str, str]]:
    found = commit()
    yield "pyaclnn", f"{version('pyaclnn')}{f', commit {found}' if found else ''}"
    yield "in", str(Path(__file__).parents[1])
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    libc = " ".join(platform.libc_ver())
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}, {libc}"
    for name in _PACKAGES:
        known = _version_of(name)
        if known:
            yield name, known


def _machine(root: Path = Path("/")) -> Iterator[tuple[str, str]]:
    """Yield what the machine has besides Python: container, driver and firmware.

    Source: CANN: the driver's install.sh writes these files.
    """
    inside = any((root / name).exists() for name in _IN_CONTAINERS)
    yield "container", "yes" if inside else "no"
    named = _setting(root / "etc/ascend_install.info", "Driver_Install_Path_Param")
    folder = root / (named or "usr/local/Ascend").lstrip("/")
    for name in ("driver", "firmware"):
        found = _setting(folder / name / "version.info", "Version")
        yield name, found or f"no version in {folder / name / 'version.info'}"


def _setting(path: Path, name: str) -> str:
    try:
        lines = read_text(path, "a file of the driver", errors="replace").splitlines()
    except OSError:
        return ""
    pairs = (line.partition("=") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _variables() -> Iterator[tuple[str, Value]]:
    names = sorted(name for name in os.environ if name.startswith(_VARIABLES))
    yield "variable", {name: os.environ[name] for name in names}


def _wanted() -> str:
    named = os.environ.get("PYACLNN_BACKEND")
    return f"{named} (PYACLNN_BACKEND)" if named else "not chosen: an installed CANN"


def _backend(*, load: bool) -> Iterator[tuple[str, Value]]:
    from pyaclnn.base.errors import AclError  # noqa: PLC0415  # as above
    from pyaclnn.cann.library import backend, loaded_backend  # noqa: PLC0415  # the binding

    try:
        found = backend() if load else loaded_backend()
    except AclError as error:
        yield "backend", str(error)
        return
    if found is None:
        yield "backend", f"none is loaded; {_wanted()}"
        return
    simulated = ", the simulated NPU" if found.name == "mock" else ""
    yield "backend", f"{found.name}{simulated}, {found.origin}"
    for group, paths in found.files.items():
        yield group, [str(path) for path in paths]
    try:
        yield from _chip(found)
    except AclError as error:
        yield "chip", f"not known: {error}"


def _chip(found: Backend) -> Iterator[tuple[str, str]]:
    from pyaclnn.cann.gate import OUT, fetch, text  # noqa: PLC0415  # the binding
    from pyaclnn.runtime.device import device_count  # noqa: PLC0415  # NumPy

    count = device_count()
    simulated = " (simulated)" if found.name == "mock" else ""
    yield "chip", f"{text('aclrtGetSocName') or 'unnamed'}{simulated}, {count} devices"
    yield "aclrt", "version " + ".".join(map(str, fetch("aclrtGetVersion", OUT, OUT, OUT)))


def _residents() -> Iterator[tuple[str, Value]]:
    from pyaclnn.cann.loaded_libraries import loaded_libraries  # noqa: PLC0415  # the binding

    ours = [
        str(path)
        for path in loaded_libraries()
        if path.name.startswith(("libascend", "libacl", "libnnopbase", "libopapi", "libcust_"))
    ]
    yield "loaded", ours


def _indented(text: str) -> str:
    return text.replace("\n", "\n" + " " * (_WIDTH + 2))
