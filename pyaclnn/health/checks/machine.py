# SPDX-License-Identifier: Apache-2.0
"""The machine under examination: its files, its environment and the user.

Everything that the checks learn about a machine goes through a `Machine`, so that one made of a
folder and a few variables is examined exactly like the real one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import os
import platform
import re
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.files import open_file
from pyaclnn.base.folders import home_folder
from pyaclnn.base.paths import ExaminedPath

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Machine", "NodeKind"]

_LARGEST_TEXT: Final = 1 << 20
_CONTAINER_WORDS: Final = re.compile(r"docker|kubepods|containerd|libpod|lxc")


class NodeKind(NamedTuple):
    """Kind of a file, and the numbers of a device.

    Attributes:
        name: The kind, e.g. ``character device``.
        major: The number of the driver; 0 of other files.
        minor: The number of the device; 0 of other files.
    """

    name: str
    major: int = 0
    minor: int = 0

    @property
    def number(self) -> str:
        """The numbers of a device, as ``ls -l`` has them, with a colon."""
        return f"{self.major}:{self.minor}"

    def __str__(self) -> str:
        """Return the kind with the numbers."""
        return f"{self.name} {self.number}"


_KINDS: Final = {
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
}


def _kind(path: Path) -> NodeKind:
    try:
        status = path.stat()
    except OSError as error:
        return NodeKind(error.strerror or "not there")
    name = _KINDS.get(stat.S_IFMT(status.st_mode), "ordinary file")
    return NodeKind(name, os.major(status.st_rdev), os.minor(status.st_rdev))


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Machine:
    """A machine, real or made of a folder.

    Attributes:
        root: The folder in the place of ``/``. Paths in the environment are real ones.
        environment: The environment variables, also those of child processes.
        home: The home directory of the user.
        prefix: The root of the Python environment, where conda packages install CANN.
        executable: The Python that loads CANN.
        uid: The id of the user.
        gids: Its group ids.
        package_version: Returns the version of an installed Python package, or None.
        kind: Returns the kind of a file, and the numbers of a device.
        assumed: True if ``uid`` and ``gids`` are assumed, not those of this process: then
            permissions are derived from the modes of files, without the kernel.
    """

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=home_folder)
    prefix: Path = field(default_factory=lambda: Path(sys.prefix))
    executable: Path = field(default_factory=lambda: Path(sys.executable))
    uid: int = field(default_factory=os.geteuid)
    gids: frozenset[int] = field(default_factory=lambda: frozenset({os.getegid(), *os.getgroups()}))
    package_version: Callable[[str], str | None] = _installed
    kind: Callable[[Path], NodeKind] = _kind
    assumed: bool = False

    @property
    def temporary(self) -> str | None:
        """The folder that TMPDIR names, absolute; None if the system's own is used."""
        named = self.environment.get("TMPDIR")
        return os.path.abspath(named) if named else None  # noqa: PTH100  # never raises

    def at(self, path: str | Path) -> ExaminedPath:
        """Return where an absolute path of the machine really lies."""
        given = ExaminedPath(path)
        if given.is_relative_to(self.root):
            return given
        return ExaminedPath(self.root) / given.relative_to(given.anchor)

    def shown(self, path: Path) -> str:
        """Return a path as a user of the machine would write it."""
        if self.root != Path("/") and path.is_relative_to(self.root):
            return f"/{path.relative_to(self.root)}"
        return str(path)

    def text(self, path: str | Path) -> str | None:
        """Read a small text file; None if it is absent, unreadable or no ordinary file."""
        place = self.at(path)
        try:
            if not self.may(place, "r"):
                return None
            with io.TextIOWrapper(
                open_file(place, most=sys.maxsize), encoding="utf-8", errors="replace"
            ) as file:
                return file.read(_LARGEST_TEXT)
        except OSError:
            return None

    def settings(self, path: str | Path) -> dict[str, str] | None:
        """Read a file of ``key=value`` lines; None if it cannot be read."""
        content = self.text(path)
        if content is None:
            return None
        pairs = (line.partition("=") for line in content.splitlines() if "=" in line)
        return {key.strip(): value.strip().strip('"') for key, _, value in pairs if key.strip()}

    def exists(self, path: str | Path) -> bool:
        """Return whether a file of this name exists and can be seen."""
        return self.at(path).exists()

    def may(self, path: Path, how: str) -> bool:
        """Return whether the user may read (``r``), write (``w``) or enter (``x``) a path.

        Args:
            path: A real path.
            how: The letters of the required permissions.
        """
        path = ExaminedPath(path)
        if not path.exists():  # also a name that no file can have
            return False
        if not self.assumed:
            modes = {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}
            return os.access(path, sum(modes[letter] for letter in how))
        try:
            root = ExaminedPath(self.root).resolve()
            above = [f for f in path.resolve().parents if root in f.parents]
            entered = all(self._allows(folder.stat(), "x") for folder in above)
            return entered and all(self._allows(path.stat(), letter) for letter in how)
        except OSError:
            return False

    def _allows(self, status: os.stat_result, letter: str) -> bool:
        if self.uid == 0:
            return True
        shift = 6 if status.st_uid == self.uid else 3 if status.st_gid in self.gids else 0
        return bool(status.st_mode >> shift & {"r": 4, "w": 2, "x": 1}[letter])

    def owner(self, path: Path) -> str:
        """Return mode, user and group of a file, in the manner of ``ls -l``."""
        try:
            status = path.stat()
        except OSError as error:
            return error.strerror or str(error)
        user, group = self._name("passwd", status.st_uid), self.group(status.st_gid)
        return f"{stat.filemode(status.st_mode)} {user}:{group}"

    def group(self, gid: int) -> str:
        """Return a group's name by ``/etc/group``, or its number."""
        return self._name("group", gid)

    def _name(self, table: str, number: int) -> str:
        for line in (self.text(f"/etc/{table}") or "").splitlines():
            parts = line.split(":")
            if len(parts) > 2 and parts[2] == str(number):  # noqa: PLR2004  # name:password:id
                return parts[0]
        return str(number)

    @property
    def in_container(self) -> bool:
        """Return whether this process runs in a container."""
        if self.exists("/.dockerenv") or self.exists("/run/.containerenv"):
            return True
        return bool(_CONTAINER_WORDS.search(self.text("/proc/1/cgroup") or ""))

    def _identity(self) -> str:
        """Return a hash that differs from machines of the same name."""
        files = ("/etc/machine-id", "/proc/sys/kernel/random/boot_id")
        known = [platform.node(), *((self.text(path) or "").strip() for path in files)]
        return hashlib.sha256("\n".join(known).encode()).hexdigest()[:8]

    def describe(self) -> dict[str, str | int | bool]:
        """Return the description of the host in a report."""
        released = self.settings("/etc/os-release") or {}
        return {
            "name": platform.node(),
            "id": self._identity(),
            "os": released.get("PRETTY_NAME", platform.system()),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "python": platform.python_version(),
            "cpu_count": os.cpu_count() or 1,
            "in_container": self.in_container,
        }
