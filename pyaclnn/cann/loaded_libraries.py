# SPDX-License-Identifier: Apache-2.0
"""CANN's libraries that are in this process already, by whomever they were loaded.

A host application may have brought CANN from anywhere: by its own run path, by LD_LIBRARY_PATH, by
``dlopen``. A second copy of a library would have a state of its own and know nothing of the host's
devices, so what is there is used, and never opened again from elsewhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn._binding import ffi, lib
from pyaclnn.cann.discovery import RUNTIME, LibrarySet, set_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Residents", "loaded_libraries"]

_VERSION: Final = r"\.so(\.[0-9]+)*$"


def loaded_libraries() -> list[Path]:
    """List the libraries in this process, as the dynamic linker names them, in its order."""
    capacity = 1 << 14
    while True:
        text = ffi.new("char[]", capacity)
        length = lib.binding_loaded(text, capacity)
        if length <= capacity:
            break
        capacity = 2 * length
    names = bytes(ffi.buffer(text, length)).split(b"\0")
    return [Path(os.fsdecode(name)) for name in names if name]


class Residents:
    """Libraries of a process, found by their file names without a version."""

    def __init__(self, libraries: Iterable[Path]) -> None:
        """Take the libraries as ``loaded_libraries`` lists them; of two alike the first counts."""
        self._paths: dict[str, Path] = {}
        for path in libraries:
            self._paths.setdefault(re.sub(_VERSION, ".so", path.name), path)

    @property
    def runtime(self) -> tuple[Path, ...]:
        """The runtime libraries that are there, best first."""
        return tuple(self._paths[name] for name in RUNTIME if name in self._paths)

    def instead_of(self, found: LibrarySet) -> LibrarySet:
        """Put what is there in the place of what would be opened from a folder."""
        return found._replace(
            directory=self._folder() or found.directory,
            runtime=self.runtime or found.runtime,
            base=self._at(found.base),
            operators=tuple(map(self._at, found.operators)),
        )

    def beside_the_runtime(self) -> list[LibrarySet]:
        """List the libraries that are there, and others in the folder of the runtime library."""
        folder = self._folder()
        return [] if folder is None else [self.instead_of(set_of(folder))]

    def agree_with(self, found: LibrarySet) -> bool:
        """Return whether the runtime library that is there, if any, is one of a folder."""
        return not self.runtime or any(
            there.exists() and path.exists() and there.samefile(path)
            for there in self.runtime
            for path in found.runtime
        )

    def _folder(self) -> Path | None:
        return self.runtime[0].absolute().parent if self.runtime else None

    def _at(self, path: Path) -> Path:
        return self._paths.get(path.name, path)
