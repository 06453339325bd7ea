# SPDX-License-Identifier: Apache-2.0
"""Capture of this process, or of a program: the libraries in front of CANN, and the environment."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.elf import ElfError, read_library
from pyaclnn.base.errors import BackendNotFoundError, InvalidArgumentError
from pyaclnn.base.folders import cache_folder, home_folder, make_private
from pyaclnn.cann.discovery import RUNTIME, installation_roots, library_sets, loader_folders
from pyaclnn.cann.library import loaded_backend, select_backend
from pyaclnn.cann.loaded_libraries import Residents, loaded_libraries
from pyaclnn.cann.search import VARIABLE
from pyaclnn.cann.simulator import FRONTS, environment, libdir
from pyaclnn.capture.front import Front, write_front
from pyaclnn.capture.functions import known
from pyaclnn.capture.library import recorder, recorder_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CONTENTS", "Settings", "capture", "captured", "fronts_of", "require_new"]

CONTENTS: Final = ("none", "hash", "full")
"""The policies of contents, in the recorder's order."""
_PATTERNS: Final = ("libascendcl", "libacl_rt", "libacl_mdl", "libacl_op_*", "libnnopbase",
                    "libopapi*", "libaclnn_*", "libhccl", "libruntime")  # fmt: skip
_BELOW: Final = "libruntime"
"""The layer below CANN's runtime, by which kernels compiled with ``<<<>>>`` are launched. Its
functions that may write device memory are counted, so that the recorder forgets what it knows."""
_WRITES_BELOW: Final = re.compile(r"rts?(?:[A-Z]\w*)?(?:Launch|Mem|Reduce|Execute|Task|Ipc)")
_TABLE: Final = "functions"


class Settings(NamedTuple):
    """Settings of a capture.

    Attributes:
        contents: ``none``, ``hash`` or ``full``: contents of inputs and results that are recorded.
        largest: The most bytes of one tensor that are recorded in full.
        limit: The most bytes of the trace, whose oldest half is dropped beyond it; 0 for no limit.
        first: The number of the first recorded call.
        last: That behind the last one, or None.
        full: C names of operators whose contents are recorded in full.
    """

    contents: str = "hash"
    largest: int = 16 << 20
    limit: int = 0
    first: int = 0
    last: int | None = None
    full: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return them as the recorder reads them."""
        values = self._asdict() | {"contents": CONTENTS.index(self.contents)}
        values["full"] = ",".join(self.full)
        given = {name: value for name, value in values.items() if value not in {None, ""}}
        return "".join(f"{name}={value};" for name, value in given.items())


def fronts_of(real: Path) -> Path:
    """Return the folder of libraries in front of those of a folder; it is kept in a cache.

    Args:
        real: The folder of CANN's libraries, or of the simulated NPU's.

    Raises:
        BackendNotFoundError: There are none, or they cannot be read.
        OSError: The folder cannot be made.
    """
    files = sorted({path for name in _PATTERNS for path in real.glob(f"{name}.so")})
    code = [
        Path(__file__).with_name(name)
        for name in ("front.py", "functions.py", "roles.py", "roles.tsv")
    ]
    state = [(str(path), path.stat().st_size, path.stat().st_mtime_ns)
             for path in (*files, *code, recorder())]  # fmt: skip
    digest = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    root = cache_folder("capture")
    make_private(root)
    folder = root / digest
    if not (folder / _TABLE).is_file():
        _write_fronts(files, folder)
    return folder


def _write_fronts(files: list[Path], folder: Path) -> None:
    lines: list[str] = []
    table, machine = folder / _TABLE, platform.machine()
    folder.mkdir(mode=0o700, exist_ok=True)
    for path in files:
        try:
            found = read_library(path, machine=machine)
        except (ElfError, OSError) as error:
            message = f"{path} cannot be captured: {error}"
            raise BackendNotFoundError(message, attempts=[(str(path), str(error))]) from error
        # The simulated NPU's own are no part of CANN.
        names = sorted(n for n in found.functions if not n.startswith(("mock_", "pyaclnn_")))
        if path.name.startswith(_BELOW):
            names = [name for name in names if _WRITES_BELOW.match(name)]
            own = [f"{name}\t-\tx" for name in names]
        else:
            own = list(known(names))
        unknown = frozenset(line.partition("\t")[0] for line in own if line.endswith("\t-\tx"))
        front = Front(found.soname or path.name, str(path), str(recorder()), str(table), len(lines),
                      names, unknown, machine)  # fmt: skip
        _place(folder / path.name, write_front(front))
        lines += own
    _place(table, "".join(f"{line}\n" for line in lines).encode())  # last: it marks a whole folder


def _place(path: Path, data: bytes) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_bytes(data)
    fresh.replace(path)


def _real_folder(choice: str, variables: Mapping[str, str]) -> Path:
    """Return the folder of the libraries that a choice of a backend names; nothing is loaded."""
    if choice == "mock":
        return libdir()
    if choice == "cann":
        roots = installation_roots(variables, home_folder(), Path(sys.prefix))
        found = [each.directory for root in roots for each in library_sets(root)]
        found += loader_folders(variables)
    else:
        found = [each.directory for each in library_sets(Path(choice).expanduser(), flat=True)]
    for folder in found:
        if any((folder / name).is_file() for name in RUNTIME):
            return folder
    hint = (
        f"Hint: source CANN's set_env.sh, or set {VARIABLE}=mock to capture on the simulated NPU."
    )
    looked = (f"  {folder}" for folder in found)
    lines = ["No libraries to capture were found. Looked at:", *looked, hint]
    attempts = [(str(folder), "has no runtime library") for folder in found]
    raise BackendNotFoundError("\n".join(lines), attempts=attempts)


def captured(base: Mapping[str, str], trace: Path, settings: Settings) -> dict[str, str]:
    """Return the environment in which a program is captured.

    Args:
        base: The environment to start from, which may choose the backend.
        trace: The file to write; other processes of the program write beside it.
        settings: Settings of the recording.

    Raises:
        BackendNotFoundError: There is nothing to capture.
    """
    choice = base.get(VARIABLE) or "cann"
    real = _real_folder(choice, base)
    folder = fronts_of(real)
    outside = {name: value for name, value in base.items() if name != FRONTS}
    variables = environment(outside) if choice == "mock" else outside
    # CANN's own folder behind it: libraries that no function is captured of.
    path = [str(folder), str(real), *filter(None, [variables.get("LD_LIBRARY_PATH")])]
    return {
        **variables,
        "LD_LIBRARY_PATH": ":".join(dict.fromkeys(path)),
        VARIABLE: str(folder),
        "PYACLNN_CAPTURE": str(trace.absolute()),
        FRONTS: f"{real}{os.pathsep}{folder}",
        "PYACLNN_CAPTURE_OPTIONS": str(settings),
    }


def require_new(path: str | os.PathLike[str]) -> str:
    """Return the whole path of a trace that can be written.

    Raises:
        FileExistsError: It exists.
        OSError: Its folder does not exist or cannot be written to, or the name is too long.
        ValueError: The path has a NUL.
    """
    whole = os.path.abspath(path)  # noqa: PTH100
    with contextlib.suppress(FileNotFoundError):
        os.lstat(whole)
        raise FileExistsError(f"{os.fspath(path)!r} exists; name a file that does not")
    folder = os.path.dirname(whole)  # noqa: PTH120
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(f"'{folder}' is no folder that this process can write to")
    return whole


@contextlib.contextmanager
def capture(path: str | os.PathLike[str], *, contents: str = "hash") -> Iterator[None]:
    """Record the CANN calls of this process in a file.

    The first capture has to begin before CANN's libraries are loaded, by a call that needs a device
    or by ``import torch_npu``: it loads them behind those that record. Later ones may begin at any
    time.

    Args:
        path: The file, which must not exist.
        contents: ``none``, ``hash`` or ``full``: what is recorded of inputs and results.

    Raises:
        InvalidArgumentError: The contents are no policy, or CANN is loaded already, without these
            libraries.
        FileExistsError: The file exists.
        OSError: Its folder does not exist, or cannot be written to.

    Examples:
        >>> with pyaclnn.capture("run.trace", contents="full"):  # doctest: +SKIP
        ...     y = pyaclnn.ops.rms_norm(x, weight)
    """
    if contents not in CONTENTS:
        expected = "'none', 'hash' or 'full'"
        raise InvalidArgumentError.of("capture", "contents", repr(contents), expected)
    trace = require_new(path)
    _require_fronts(os.fspath(path))
    begin = recorder_function("capture_begin", "int(*)(const char *, const char *)")
    if begin(os.fsencode(trace), str(Settings(contents=contents)).encode()):
        expected = "given when no other capture has begun in the process"
        whole = os.environ.get("PYACLNN_CAPTURE")
        hint = (
            f"'pyaclnn capture' records this program already, in '{whole}'; run it without"
            if whole
            else "leave the 'with' block of the other first"
        )
        raise InvalidArgumentError.of("capture", "path", repr(os.fspath(path)), expected, hint)
    try:
        yield
    finally:
        recorder_function("capture_end", "void(*)(void)")()


def _require_fronts(path: str) -> None:
    """Load the libraries in front of the backend, unless they are."""
    found = loaded_backend()
    there = Residents(loaded_libraries()).runtime  # torch_npu may have loaded them
    if found is not None:
        folder = found.directory
    elif there:
        folder = there[0].parent
    else:
        folder = _real_folder(os.environ.get(VARIABLE) or "cann", os.environ)
        if not (folder / _TABLE).is_file():
            folder = select_backend(fronts_of(folder)).directory
    if not (folder / _TABLE).is_file():
        raise InvalidArgumentError.of(
            "capture", "path", repr(path), "given before CANN's libraries are loaded",
            f"they are loaded already, from {folder}; begin the first capture before the first "
            "call that needs a device, and before 'import torch_npu', or run the program under "
            "'pyaclnn capture'",
        )  # fmt: skip
