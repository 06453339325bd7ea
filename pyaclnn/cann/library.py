# SPDX-License-Identifier: Apache-2.0
"""The backend of this process: which libraries are open, and where each C function comes from.

There is one backend a process. It is chosen by ``select_backend``, else by the environment variable
PYACLNN_BACKEND, else it is an installed CANN. The simulated NPU is never chosen silently.
"""

from __future__ import annotations

import difflib
import os
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pyaclnn._binding import ffi, lib
from pyaclnn.cann.discovery import custom_operators, home_folder, installation_roots, library_sets
from pyaclnn.cann.signatures import signature
from pyaclnn.errors import BackendNotFoundError, InvalidArgumentError, MissingSymbolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn._binding import CData
    from pyaclnn.cann.discovery import LibrarySet
    from pyaclnn.cann.signatures import Signature

__all__ = ["Backend", "Library", "backend", "function", "open_library", "select_backend"]

_VARIABLE: Final = "PYACLNN_BACKEND"
_MARKER: Final = b"pyaclnn_mock_marker"
_TELL_PYTHON: Final = b"pyaclnn_mock_python_tell"
_HOW_TO_CHOOSE: Final = (
    "Hint: on a machine with CANN, source the set_env.sh of its installation, or name the "
    f"directory of its libraries in {_VARIABLE} or pyaclnn.select_backend(); LD_LIBRARY_PATH is "
    f"not searched. Without an NPU, choose the simulated one: {_VARIABLE}=mock or "
    'pyaclnn.select_backend("mock").'
)
_WORDS: Final = ("cann", "mock")
_SIMULATED: Final = "8.1"
"""The CANN whose functions the simulated NPU has."""

_PACKAGES: Final = {
    "runtime": "the runtime package (libascendcl.so)",
    "base": "the toolkit package (libnnopbase.so)",
    "operators": "the operator package for this chip (libopapi.so, or libopapi_*.so since 8.5)",
}
"""What installs the libraries of each group."""

_lock: Final = threading.RLock()
_loaded: _Loaded | None = None


@dataclass(frozen=True)
class Backend:
    """The libraries in use.

    Attributes:
        name: ``cann``, or ``mock`` for the simulated NPU; told by the library, not by its path.
        directory: Where the runtime library lies.
        files: The libraries of each group in search order: runtime, base, operators.
    """

    name: str
    directory: Path
    files: dict[str, tuple[Path, ...]]


@dataclass
class _Loaded:
    info: Backend
    choice: str
    opened: dict[Path, CData] = field(default_factory=dict)
    refused: dict[Path, str] = field(default_factory=dict)

    def open(self, path: Path) -> CData | None:
        """Open a library once; a refusal is remembered with the loader's words."""
        if path not in self.opened and path not in self.refused:
            opened, message = _open(path)
            if opened is None:
                self.refused[path] = message
            else:
                self.opened[path] = opened
        return self.opened.get(path)


def select_backend(choice: str | os.PathLike[str]) -> Backend:
    """Choose and load the backend of this process.

    Args:
        choice: ``"cann"`` for an installed CANN, ``"mock"`` for the simulated NPU, or a directory:
            the root of an installation, or the directory of its libraries; ``~`` is the home.

    Returns:
        What was loaded; the same again if this choice is the loaded one already.

    Raises:
        BackendNotFoundError: Nothing usable there; the text lists every path with the reason.
        InvalidArgumentError: Another backend is loaded already.
    """
    if not isinstance(choice, (str, os.PathLike)):
        expected = "'cann', 'mock', or the path of a folder"
        raise InvalidArgumentError.of("select_backend", "choice", repr(choice), expected)
    return _load(os.fspath(choice), "select_backend").info


def backend() -> Backend:
    """Return the backend of this process, loading it if no call needed it so far.

    Returns:
        What is loaded.

    Raises:
        BackendNotFoundError: None was chosen and no CANN was found, or the chosen one is unusable.
    """
    return _current().info


def function(name: str) -> Callable[..., Any]:
    """Return a C function, resolved in the libraries of its group.

    Args:
        name: Its C name, e.g. ``aclrtMalloc``.

    Returns:
        The callable, as the compiled binding offers it.

    Raises:
        AttributeError: No header declares such a function.
        MissingSymbolError: The loaded libraries do not have it.
        BackendNotFoundError: There is no backend to load.
    """
    declared = signature(name)
    if declared is None:
        message = f"no header of this binding declares a C function named {name!r}"
        raise AttributeError(message)
    with _lock:
        loaded = _current()
        for path in loaded.info.files[declared.library]:
            library = loaded.open(path)
            found = None if library is None else _resolve(declared, library)
            if found is not None:
                return found
    raise _missing(declared, loaded)


class Library:
    """A library beside those of the backend, such as one of custom operators."""

    def __init__(self, path: Path, opened: CData) -> None:
        """Use a library that is open."""
        self.path = path
        self._opened = opened

    def find(self, declared: Signature) -> Callable[..., Any]:
        """Return a function that a header declares as one of an operator.

        Raises:
            MissingSymbolError: The library does not have it.
        """
        found = _resolve(declared, self._opened)
        if found is None:
            message = f"{declared.name} is not in {self.path}, although {declared.header} has it."
            files = [(str(self.path), "does not have it")]
            raise MissingSymbolError(
                message, symbol=declared.name, files=files, since=declared.since
            )
        return found


def open_library(path: Path) -> Library:
    """Open a library that needs those of the backend.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be opened.
    """
    library, message = _open(path)
    if library is None:
        raise OSError(f"{path}: {message}")
    return Library(path, library)


def _resolve(declared: Signature, library: CData) -> Callable[..., Any] | None:
    name = declared.name.encode()
    if declared.library != "operators":
        return getattr(lib, declared.name) if lib.binding_resolve(name, library) == 1 else None
    # The functions of operators are not compiled into the binding.
    address = lib.binding_symbol(library, name)
    return None if address == ffi.NULL else cast("Any", ffi.cast(declared.c_type, address))


def _missing(signature: Signature, loaded: _Loaded) -> MissingSymbolError:
    files = [
        (str(path), loaded.refused.get(path, "does not have it"))
        for path in loaded.info.files[signature.library]
    ]
    lines = [
        f"{signature.name} is not in the loaded libraries ({loaded.info.name}). Searched:",
        *(f"  {path}: {finding}" for path, finding in files),
        f"Hint: {signature.header} declares it since CANN {signature.since}; "
        + _why_missing(signature, loaded.info.name),
    ]
    return MissingSymbolError(
        "\n".join(lines), symbol=signature.name, files=files, since=signature.since
    )


def _why_missing(signature: Signature, backend_name: str) -> str:
    if backend_name == "mock" and signature.since > _SIMULATED:
        return f"the simulated NPU simulates CANN {_SIMULATED}."
    if backend_name == "mock":
        return "the simulated NPU has it, so these libraries are not complete: install them again."
    return f"an older CANN does not have it, nor does one without {_PACKAGES[signature.library]}."


def _current() -> _Loaded:
    if _loaded is not None:
        return _loaded
    return _load(os.environ.get(_VARIABLE) or "cann", _VARIABLE)


def _load(choice: str, chooser: str) -> _Loaded:
    global _loaded  # noqa: PLW0603  # one backend a process is the rule that this variable holds
    with _lock:
        if _loaded is None:
            _loaded = _search(choice, chooser)
        elif chooser == "select_backend" and not _is_loaded(choice, _loaded):
            raise InvalidArgumentError.of(
                "select_backend",
                "choice",
                f"{choice!r}",
                f"{_loaded.choice!r}, because {_loaded.info.name} is already loaded from "
                f"{_loaded.info.directory} and a process has one backend",
                "choose before the first call that needs a device, or start another process.",
            )
        return _loaded


def _is_loaded(choice: str, loaded: _Loaded) -> bool:
    if choice in {loaded.choice, loaded.info.name}:
        return True
    directory = loaded.info.directory.resolve()
    sets = library_sets(Path(choice).expanduser(), flat=True)
    return any(found.directory.resolve() == directory for found in sets)


def _search(choice: str, chooser: str) -> _Loaded:
    if "/" not in choice and choice not in _WORDS and not Path(choice).expanduser().is_dir():
        raise _no_such_word(choice, chooser)
    attempts: list[tuple[str, str]] = []
    for root in _roots(choice):
        for found in library_sets(root, flat=choice != "cann"):
            loaded = _try(found, choice, root, attempts)
            if loaded is not None:
                return loaded
    subject = "no installed CANN" if choice == "cann" else "no usable libraries"
    if chooser == "select_backend":
        head = f"select_backend({choice!r}) found {subject}."
    elif os.environ.get(_VARIABLE):
        head = f"{_VARIABLE}={choice} found {subject}."
    else:
        head = f"No backend was chosen, and {subject} was found."
    lines = [
        head,
        "Tried:",
        *(f"  {path}: {message}" for path, message in attempts),
        _HOW_TO_CHOOSE,
    ]
    raise BackendNotFoundError("\n".join(lines), attempts=attempts)


def _no_such_word(choice: str, chooser: str) -> BackendNotFoundError:
    said = f"select_backend({choice!r})" if chooser == "select_backend" else f"{chooser}={choice}"
    known = " or ".join(f"'{word}'" for word in _WORDS)
    near = difflib.get_close_matches(choice.lower(), _WORDS, 1)
    question = f"; did you mean '{near[0]}'?" if near else "."
    lines = [
        f"{said} is not {known}, and there is no such folder{question}",
        _HOW_TO_CHOOSE,
    ]
    return BackendNotFoundError("\n".join(lines), attempts=[(choice, "no such folder")])


def _roots(choice: str) -> list[Path]:
    if choice == "cann":
        return installation_roots(os.environ, home_folder(), Path(sys.prefix))
    if choice == "mock":
        # Imported on demand: a process that uses CANN has no need of the simulated NPU.
        from pyaclnn.mock import libdir  # noqa: PLC0415

        return [libdir()]
    return [Path(choice).expanduser()]


def _try(
    found: LibrarySet, choice: str, root: Path, attempts: list[tuple[str, str]]
) -> _Loaded | None:
    opened: dict[Path, CData] = {}
    runtime = _first_runtime(found.runtime, opened, attempts)
    if runtime is None:
        return None
    is_mock = lib.binding_has_symbol(opened[runtime], _MARKER) == 1
    if is_mock and sys.executable:
        tell = lib.binding_symbol(opened[runtime], _TELL_PYTHON)
        if tell != ffi.NULL:
            cast("Any", ffi.cast("void (*)(const char *)", tell))(os.fsencode(sys.executable))
    if is_mock and choice == "cann":
        attempts.append((str(runtime), "is the simulated NPU, which has to be chosen by name"))
        return None
    base, message = _open(found.base)
    if base is None:
        attempts.append((str(found.base), message))
        return None
    opened[found.base] = base
    operators = found.operators
    if not operators:
        attempts.append((str(found.directory), "has neither libopapi.so nor libopapi_*.so"))
        return None
    if not is_mock:
        operators = (*custom_operators(os.environ, root), *operators)
    files = {"runtime": (runtime,), "base": (found.base,), "operators": operators}
    info = Backend("mock" if is_mock else "cann", found.directory, files)
    return _Loaded(info, choice, opened)


def _first_runtime(
    candidates: tuple[Path, ...], opened: dict[Path, CData], attempts: list[tuple[str, str]]
) -> Path | None:
    for path in candidates:
        library, message = _open(path)
        if library is not None and lib.binding_has_symbol(library, b"aclrtMalloc") == 1:
            opened[path] = library
            return path
        attempts.append((str(path), message or "opened, but it does not provide aclrtMalloc"))
    return None


def _open(path: Path) -> tuple[CData | None, str]:
    library = lib.binding_open(os.fsencode(path))
    if library != ffi.NULL:
        return library, ""
    return None, os.fsdecode(ffi.string(lib.binding_error())).removeprefix(f"{path}: ")
