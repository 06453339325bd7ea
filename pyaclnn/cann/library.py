# SPDX-License-Identifier: Apache-2.0
"""The backend of this process: which libraries are open, and where each C function comes from.

There is one backend a process. It is chosen by ``select_backend``, else by the environment variable
PYACLNN_BACKEND, else it is an installed CANN. The simulated NPU is never chosen silently.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pyaclnn._binding import ffi, lib
from pyaclnn.base.errors import InvalidArgumentError, MissingSymbolError, repr_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann.discovery import library_sets
from pyaclnn.cann.search import VARIABLE, Backend, Loaded, dlopen, search
from pyaclnn.cann.signatures import own_headers, signature
from pyaclnn.cann.trace import begin_trace
from pyaclnn.facts.releases import VARIABLE as RELEASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn._binding import CData
    from pyaclnn.cann.signatures import OperatorHeaders, Signature

__all__ = [
    "Backend",
    "Library",
    "backend",
    "declaration",
    "function",
    "loaded_backend",
    "open_library",
    "operator_headers",
    "select_backend",
]

_PACKAGES: Final = {
    "runtime": "the runtime package (libascendcl.so)",
    "base": "the toolkit package (libnnopbase.so)",
    "operators": "the operator package for this chip (libopapi.so, or libopapi_*.so since 8.5)",
}
"""The package that installs the libraries of each group."""

_BESIDE: Final = {
    "graph": ("acl_mdl", "acl_op_executor", "acl_op_compiler"),
    "ge": ("graph",),
    "packages": ("nnopbase",),
    "tasks": ("runtime", "profapi"),
    "collectives": ("hccl",),
}
"""Kind of functions that a program seldom calls -> their libraries, if not the kind's own."""

_TYPE: Final = r"((?:^|[(,]) *(?:const )?)(\w+)( ?\*)?(?= |[,)(])"
"""A type in a function's type, behind what is before it, and whether it is a pointer's."""

_lock = reentrant_lock()
_loaded: Loaded | None = None


def select_backend(choice: str | os.PathLike[str]) -> Backend:
    """Choose and load the backend of this process.

    Args:
        choice: ``"cann"`` for an installed CANN, ``"mock"`` for the simulated NPU, or a directory:
            the root of an installation, or the directory of its libraries; ``~`` is the home.

    Returns:
        The loaded libraries; the same again if this choice is loaded already.

    Raises:
        BackendNotFoundError: Nothing usable there; the text lists every path with the reason.
        InvalidArgumentError: Another backend is loaded already.

    Examples:
        >>> pyaclnn.select_backend("mock").name
        'mock'
    """
    given: object = choice
    if not isinstance(given, (str, os.PathLike)) or not os.fspath(given):
        expected = "'cann', 'mock', or the path of a folder"
        raise InvalidArgumentError.of("select_backend", "choice", repr_of(choice), expected)
    return _load(os.fspath(choice), "select_backend").info


def backend() -> Backend:
    """Return the backend of this process, loading it if no call needed it so far.

    Returns:
        The loaded libraries.

    Raises:
        BackendNotFoundError: None was chosen and no CANN was found, or the chosen one is unusable.

    Examples:
        >>> backend = pyaclnn.backend()
        >>> backend.name, sorted(backend.files)
        ('mock', ['base', 'operators', 'runtime'])
    """
    return _current().info


def loaded_backend() -> Backend | None:
    """Return the backend of this process if it is loaded; nothing is loaded for the question."""
    return None if _loaded is None else _loaded.info


def operator_headers() -> OperatorHeaders:
    """Return the headers of the operators of this process's backend, loading it if need be.

    Those of an installed CANN lie beside its libraries; there are none of libraries alone. Those of
    the simulated NPU are this project's own.

    Raises:
        BackendNotFoundError: There is no backend to load.
    """
    return _current().operator_headers


def declaration(name: str) -> Signature | None:
    """Return what is declared of a C function, or None.

    Operators of a backend that is loaded are declared by the headers of its installation; else by
    this project's own, and by its table of all operators.

    Args:
        name: Its C name.
    """
    return signature(name, None if _loaded is None else _loaded.operator_headers)


@functools.cache
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
    declared = declaration(name)
    if declared is None:
        message = f"no header declares a C function named {name!r}"
        raise AttributeError(message)
    with _lock:
        loaded = _current()
        if declared.library == "operators":  # what was loaded just now may declare it itself
            declared = signature(name, loaded.operator_headers) or declared
        for path in _files(declared, loaded.info):
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

    def address(self, symbol: str) -> Any:
        """Return where a symbol of the library lies, as a ``void *``; NULL if it has none."""
        return lib.binding_symbol(self._opened, symbol.encode())

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
    library, message = dlopen(path)
    if library is None:
        raise OSError(f"{path}: {message}")
    return Library(path, library)


def _files(declared: Signature, info: Backend) -> list[Path]:
    """List the libraries that may have a function, best first."""
    kind = declared.library
    others = [info.directory / f"lib{name}.so" for name in _BESIDE.get(kind, (kind,))]
    return [*info.files[kind]] if kind in info.files else [*others, *info.files["runtime"]]


def _resolve(declared: Signature, library: CData) -> Callable[..., Any] | None:
    name = declared.name.encode()
    if declared.library != "operators" and not declared.text:
        return getattr(lib, declared.name) if lib.binding_resolve(name, library) == 1 else None
    # The functions of operators and of the table are not compiled into the binding.
    address = lib.binding_symbol(library, name)
    if address == ffi.NULL:
        return None
    found: Any = ffi.cast(re.sub(_TYPE, _known, declared.c_type), address)
    return cast("Callable[..., Any]", found)


def _known(found: re.Match[str]) -> str:
    """Return a type in a function's type; what the binding does not know is an address."""
    before, name, pointer = found.groups("")
    try:
        ffi.typeof(name)
    except Exception:  # noqa: BLE001  # the binding's class of errors is ffi's own
        return f"{before}{'void' if pointer else 'uintptr_t'}{pointer}"
    return found[0]


def _missing(signature: Signature, loaded: Loaded) -> MissingSymbolError:
    files = [
        (str(path), loaded.refused.get(path, "does not have it"))
        for path in _files(signature, loaded.info)
    ]
    lines = [
        f"{signature.name} is not in the loaded libraries ({loaded.info.name}). Searched:",
        *(f"  {path}: {finding}" for path, finding in files),
        f"Hint: {signature.header} declares it since CANN {signature.since}; "
        + _why_missing(signature, loaded),
    ]
    return MissingSymbolError(
        "\n".join(lines), symbol=signature.name, files=files, since=signature.since
    )


def _why_missing(signature: Signature, loaded: Loaded) -> str:
    release = loaded.simulated
    if release and not signature.is_in(release):
        chosen = f"{RELEASE}={signature.since}"
        return f"the simulated NPU simulates CANN {release}; {chosen} chooses that one."
    if release:
        if signature.library == "operators" and own_headers().find(signature.name) is None:
            return "the simulated NPU does not have this operator."
        return "the simulated NPU has it, so these libraries are not complete: install them again."
    package = _PACKAGES.get(signature.library, _PACKAGES["base"])
    return f"an older CANN does not have it, nor does one without {package}."


def _current() -> Loaded:
    if _loaded is not None:
        return _loaded
    return _load(os.environ.get(VARIABLE) or "cann", VARIABLE)


def _load(choice: str, chooser: str) -> Loaded:
    global _loaded  # noqa: PLW0603  # one backend a process is the rule that this variable holds
    with _lock:
        if _loaded is None:
            begin_trace()
            _loaded = search(choice, chooser)
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


def _is_loaded(choice: str, loaded: Loaded) -> bool:
    if choice in {loaded.choice, loaded.info.name}:
        return True
    directory = loaded.info.directory.resolve()
    sets = library_sets(Path(choice).expanduser(), flat=True)
    return any(found.directory.resolve() == directory for found in sets)
