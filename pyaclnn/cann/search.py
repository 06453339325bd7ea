# SPDX-License-Identifier: Apache-2.0
"""Finding and opening the libraries of a backend.

Libraries that the process has loaded already come before everything else; see
:mod:`pyaclnn.cann.loaded_libraries`.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pyaclnn._binding import ffi, lib
from pyaclnn.base.errors import BackendNotFoundError
from pyaclnn.base.files import refusal
from pyaclnn.base.folders import home_folder
from pyaclnn.base.limits import limits_on_memory
from pyaclnn.base.locks import cached_property
from pyaclnn.base.path_security import made_absolute, warn_of_writers
from pyaclnn.base.spelling import did_you_mean, nearest
from pyaclnn.cann.discovery import (
    custom_operators,
    header_folders,
    installation_roots,
    library_sets,
    loader_folders,
    set_of,
)
from pyaclnn.cann.loaded_libraries import Residents, loaded_libraries
from pyaclnn.cann.signatures import OperatorHeaders, own_headers
from pyaclnn.cann.simulator import captured_folders
from pyaclnn.facts.releases import ReleaseError
from pyaclnn.facts.variables import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn._binding import CData
    from pyaclnn.cann.discovery import LibrarySet

__all__ = ["VARIABLE", "Backend", "Loaded", "dlopen", "search"]

VARIABLE: Final = "PYACLNN_BACKEND"
"""The environment variable that chooses the backend."""

_MARKER: Final = b"pyaclnn_mock_marker"
_RELEASE: Final = b"pyaclnn_mock_release"
_SET_PYTHON: Final = b"pyaclnn_mock_python_set"
_CALLS: Final = (b"pyaclnn_mock_call_begins", b"pyaclnn_mock_call_ends")
_OWN: Final = (str(Path(__file__).parents[1]) + os.sep, "<pyaclnn.", weakref.__file__)
"""Prefixes of the names of files that contain no program of a user."""
_PREFIX: Final = "PYACLNN_"
_WORDS: Final = ("cann", "mock")
_HOW_TO_CHOOSE: Final = (
    "Hint: on a machine with CANN, source the set_env.sh of its installation, or name the "
    f"directory of its libraries in {VARIABLE} or pyaclnn.select_backend(); LD_LIBRARY_PATH is "
    f"searched last. Without an NPU, choose the simulated one: {VARIABLE}=mock or "
    'pyaclnn.select_backend("mock").'
)

_JOINED: Final = "in this process already"
_refused: Final[set[Path]] = set()
"""Libraries that a search has opened and refused; the host program did not load them."""


@dataclass(frozen=True)
class Backend:
    """The libraries in use.

    Attributes:
        name: ``cann``, or ``mock`` for the simulated NPU; read from the library, not from its path.
        directory: Where the runtime library lies.
        files: The libraries of each group in search order: runtime, base, operators.
        origin: Description of the search, for messages.
        headers: The folders of the same installation that may have headers of operators.

    Examples:
        >>> pyaclnn.backend().name
        'mock'
    """

    name: str
    directory: Path
    files: dict[str, tuple[Path, ...]]
    origin: str = "as chosen"
    headers: tuple[Path, ...] = ()


@dataclass
class Loaded:
    """A backend with what was opened of it.

    Attributes:
        info: The backend.
        choice: By what word or folder it was chosen.
        opened: The libraries that are open.
        refused: Those that could not be opened, with the loader's words.
    """

    info: Backend
    choice: str
    opened: dict[Path, CData] = field(default_factory=dict)
    refused: dict[Path, str] = field(default_factory=dict)

    @cached_property
    def operator_headers(self) -> OperatorHeaders:
        """The headers of its operators; those of the simulated NPU are this project's own."""
        return own_headers() if self.info.name == "mock" else OperatorHeaders(self.info.headers)

    @cached_property
    def simulated(self) -> str | None:
        """The simulated release of CANN, read from the library; None for an installed one."""
        if self.info.name != "mock":
            return None
        function = lib.binding_symbol(self.opened[self.info.files["runtime"][0]], _RELEASE)
        release = cast("Any", ffi.cast("const char *(*)(void)", function))()
        return str(ffi.string(release), "ascii")

    def open(self, path: Path) -> CData | None:
        """Open a library once; a refusal is remembered with the loader's words."""
        if path not in self.opened and path not in self.refused:
            opened, message = dlopen(path)
            if opened is None:
                self.refused[path] = message
            else:
                self.opened[path] = opened
        return self.opened.get(path)


def search(choice: str, chooser: str) -> Loaded:
    """Find and open a backend.

    Args:
        choice: ``"cann"``, ``"mock"``, or a folder.
        chooser: Who chose: ``select_backend``, or the environment variable. Where that is not
            set, a simulated NPU that the host program has loaded is its choice.

    Returns:
        The backend.

    Raises:
        BackendNotFoundError: There is none of that choice.
    """
    # pathlib raises for a name that is too long.
    folder = os.path.expanduser(choice)  # noqa: PTH111
    if "/" not in choice and choice not in _WORDS and not os.path.isdir(folder):  # noqa: PTH112
        raise _no_such_word(choice, chooser)
    _warn_of_mistyped_variables()
    is_chosen = chooser == "select_backend" or bool(os.environ.get(VARIABLE))
    attempts: dict[tuple[str, str], None] = {}
    there = Residents(loaded_libraries())
    for found, root, origin in _candidates(choice, there, attempts):
        may_join = not is_chosen and origin == _JOINED and not _refused & {*found.runtime}
        loaded = _try(found, choice, may_join, root, origin, attempts)
        if loaded is not None:
            return loaded
    subject = "no installed CANN" if choice == "cann" else "no usable libraries"
    if chooser == "select_backend":
        head = f"select_backend({choice!r}) found {subject}."
    elif os.environ.get(VARIABLE):
        head = f"{VARIABLE}={choice} found {subject}."
    else:
        head = f"No backend was chosen, and {subject} was found."
    lines = [
        head,
        "Tried:",
        *(f"  {path}: {message}" for path, message in attempts),
        *_limits(),
        _how_to_join(there) if there.runtime else _HOW_TO_CHOOSE,
    ]
    raise BackendNotFoundError("\n".join(lines), attempts=list(attempts))


def _warn_of_mistyped_variables() -> None:
    """Suggest the variable that is closest to each one of pyaclnn that does not exist."""
    for name in sorted(os.environ.keys() - VARIABLES.keys()):
        if name.startswith(_PREFIX):
            known = {_own_part(other): other for other in VARIABLES if other.startswith(_PREFIX)}
            for near in nearest(_own_part(name), known):
                message = f"{name} is no variable that pyaclnn reads; did you mean {known[near]}?"
                warnings.warn(message, RuntimeWarning, stacklevel=5)


def _own_part(name: str) -> str:
    """Return the name of a variable without the part that it shares with others."""
    return name.removeprefix(_PREFIX).removeprefix("MOCK_")


def _limits() -> Iterator[str]:
    """Yield the limits on memory that the loader may have met."""
    limits = limits_on_memory(least_use=0.5)
    if limits:
        yield f"This process may have {limits}."


def _candidates(
    choice: str, there: Residents, attempts: dict[tuple[str, str], None]
) -> Iterator[tuple[LibrarySet, Path, str]]:
    """Yield what to try, best first: libraries, root of their installation, how it was found.

    Libraries that would be a second copy are not tried; the first candidate records them.
    """
    joined = _JOINED if there.runtime else None
    if choice in _WORDS:
        for found in there.beside_the_runtime():
            yield found, _root_of(found.directory), _JOINED
    for root in _reachable(choice, there, attempts):
        for found in library_sets(root, flat=choice != "cann"):
            if choice != "cann" and not there.agree_with(found):
                second = f"would be a second runtime library beside {_named(there)}"
                attempts.update(((str(path), second), None) for path in found.runtime)
            if choice in _WORDS or there.agree_with(found):
                usual = "where CANN is installed" if choice == "cann" else "as chosen"
                yield there.instead_of(found), root, joined or usual
    if choice == "cann":
        for folder in loader_folders(os.environ):
            found = there.instead_of(set_of(folder))
            yield found, _root_of(folder), joined or "in LD_LIBRARY_PATH"


def _reachable(
    choice: str, there: Residents, attempts: dict[tuple[str, str], None]
) -> Iterator[Path]:
    """Yield the roots that can be looked at; the others go to the attempts."""
    for root in _roots(choice):
        refusal = _refusal(root)
        if not refusal:
            yield root
        elif choice != "cann" or not there.runtime:
            attempts[str(root), refusal] = None


def _refusal(path: Path) -> str:
    """Return why a path cannot be looked at, in the system's words; nothing if it can."""
    try:
        path.stat()
    except OSError as error:
        return str(error.strerror)
    return ""


def _root_of(folder: Path) -> Path:
    """Return the root of the installation in which a folder has the libraries."""
    above = folder.parent
    return above.parent if above.name.endswith("-linux") else above


def _named(there: Residents) -> str:
    return " and ".join(map(str, there.runtime))


def _how_to_join(there: Residents) -> str:
    return (
        f"Hint: {_named(there)} is in this process already, and a second copy beside it would know "
        "nothing of its devices: leave the choice out to use it as it is there, choose 'mock' if "
        "it is the simulated NPU, or start another process."
    )


def _no_such_word(choice: str, chooser: str) -> BackendNotFoundError:
    said = f"select_backend({choice!r})" if chooser == "select_backend" else f"{chooser}={choice}"
    known = " or ".join(f"'{word}'" for word in _WORDS)
    question = did_you_mean(choice, _WORDS, lead="; ") or "."
    lines = [
        f"{said} is not {known}, and there is no such folder{question}",
        _HOW_TO_CHOOSE,
    ]
    return BackendNotFoundError("\n".join(lines), attempts=[(choice, "no such folder")])


def _roots(choice: str) -> list[Path]:
    if choice == "cann":
        roots = installation_roots(os.environ, home_folder(), Path(sys.prefix))
        return [made_absolute(root) for root in roots]
    if choice == "mock":
        # Imported on demand: a process that uses CANN has no need of the simulated NPU.
        from pyaclnn.cann.simulator import libdir  # noqa: PLC0415

        try:
            return [libdir()]
        except ReleaseError as error:
            raise BackendNotFoundError(f"{error}.", attempts=[(choice, str(error))]) from None
    return [Path(choice).expanduser()]


def _recording(found: LibrarySet) -> LibrarySet:
    """Return the libraries that record in front of a folder's, in a program that is captured."""
    captured, front = captured_folders(os.environ)
    return set_of(Path(front)) if front and Path(captured) == found.directory else found


def _try(
    found: LibrarySet,
    choice: str,
    may_join: bool,
    root: Path,
    origin: str,
    attempts: dict[tuple[str, str], None],
) -> Loaded | None:
    opened: dict[Path, CData] = {}
    found = _recording(found)
    runtime = _first_runtime(found.runtime, opened, attempts)
    if runtime is None:
        return None
    is_mock = lib.binding_has_symbol(opened[runtime], _MARKER) == 1
    if is_mock and may_join:
        choice = "mock"
    elif is_mock and choice == "cann":
        _refused.add(runtime)
        attempts[str(runtime), "is the simulated NPU, which has to be chosen by name"] = None
        return None
    if not is_mock and choice == "mock":
        attempts[str(runtime), "is CANN, and the simulated NPU cannot be had beside it"] = None
        return None
    if is_mock:
        _introduce(opened[runtime])
    base, message = dlopen(found.base)
    if base is None:
        attempts[str(found.base), message] = None
        return None
    opened[found.base] = base
    operators = found.operators
    if not operators:
        attempts[str(found.directory), "has neither libopapi.so nor libopapi_*.so"] = None
        return None
    if not is_mock:
        operators = (*custom_operators(os.environ, root), *operators)
    files = {"runtime": (runtime,), "base": (found.base,), "operators": operators}
    name = "mock" if is_mock else "cann"
    headers = () if is_mock else tuple(header_folders(operators, root))
    # The end of a program would be too late: evaluating text, of which classes of tuples are made,
    # has Python forget the Ctrl-C that it is to end by.
    import pyaclnn.facts.explanations  # noqa: F401, PLC0415  # many programs open no library

    return Loaded(Backend(name, found.directory, files, origin, headers), choice, opened)


def _introduce(library: CData) -> None:
    """Report to a simulated NPU which Python runs, and from now on which line of it calls."""
    set_python = lib.binding_symbol(library, _SET_PYTHON)
    if set_python != ffi.NULL and sys.executable:
        cast("Any", ffi.cast("void (*)(const char *)", set_python))(os.fsencode(sys.executable))
    begins, ends = (lib.binding_symbol(library, name) for name in _CALLS)
    if ffi.NULL not in {begins, ends}:
        lib.binding_tell_callers(begins, ends, os.fsencode("".join(f"{start}\n" for start in _OWN)))


def _first_runtime(
    candidates: tuple[Path, ...],
    opened: dict[Path, CData],
    attempts: dict[tuple[str, str], None],
) -> Path | None:
    for path in candidates:
        library, message = dlopen(path)
        if library is not None and lib.binding_has_symbol(library, b"aclrtMalloc") == 1:
            opened[path] = library
            return path
        attempts[str(path), message or "opened, but it does not provide aclrtMalloc"] = None
    return None


def dlopen(path: Path) -> tuple[CData | None, str]:
    """Open a library; None and the loader's words if that fails."""
    from pyaclnn.base.elf import LARGEST  # noqa: PLC0415  # many programs open no library

    reason = refusal(path, "a library", most=LARGEST)
    if reason is not None:
        return None, reason
    warn_of_writers(path)
    library = lib.binding_open(os.fsencode(path))
    if library != ffi.NULL:
        return library, ""
    return None, os.fsdecode(ffi.string(lib.binding_error())).removeprefix(f"{path}: ")
