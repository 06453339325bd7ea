# SPDX-License-Identifier: Apache-2.0
"""Tables about a machine with CANN, in TOML files beside this module, whose order they keep."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyaclnn.base.toml import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Drivers",
    "Files",
    "Limit",
    "Place",
    "Product",
    "Variable",
    "drivers",
    "files",
    "limits",
    "places",
    "products",
    "variables",
]

Row = TypeVar("Row")


def _table(name: str, kind: Callable[..., Row], **texts: object) -> tuple[Row, ...]:
    return read_rows(Path(__file__).with_name(f"{name}.toml"), kind, **texts)


@dataclass(frozen=True)
class Variable:
    """A variable.

    Attributes:
        name: Its name.
        kind: The kind of its value, as the table describes it.
        needed_by: The part that needs it, in a short sentence.
        vital: True if operators fail if a path is a wrong one.
        holds: Paths of which a folder must have one.
        pattern: The pattern of an accepted number.
        words: The accepted values in words.
    """

    name: str
    kind: str
    needed_by: str
    vital: bool = False
    holds: tuple[str, ...] = ()
    pattern: str = ""
    words: str = ""


@functools.cache
def variables() -> tuple[Variable, ...]:
    """Return the variables of CANN and its neighbours."""
    return _table("environment", Variable, arch=platform.machine())


@dataclass(frozen=True)
class Files:
    """Files of one form.

    Attributes:
        name: The pattern of their paths.
        below: The folder that the pattern begins in: ``root`` or ``operators``.
        package: The package that has them.
        form: The form, as the table describes it.
    """

    name: str
    below: str
    package: str
    form: str


@functools.cache
def files() -> tuple[Files, ...]:
    """Return the files of an installation."""
    return _table("installation", Files, arch=platform.machine())


@dataclass(frozen=True)
class Limit:
    """A limit.

    Attributes:
        name: The limited resource.
        needs: The lowest value with which operators run, in bytes or in pieces.
        wants: The lowest value that is enough for everything.
        advice: The way to raise it.
        resource: Its name in Python's module ``resource``, of a limit of the process.
        files: Its files below the folder of the control group, of either version.
    """

    name: str
    needs: int
    wants: int
    advice: str
    resource: str = ""
    files: tuple[str, ...] = ()


@functools.cache
def limits() -> tuple[Limit, ...]:
    """Return the limits of a process and of its control group."""
    return _table("limits", Limit)


@dataclass(frozen=True)
class Place:
    """A folder that is written to.

    Attributes:
        name: Its purpose.
        variables: The variables that name it; the first that is set counts.
        default: The folder if none is set; ``~`` is the user's home.
        free: The bytes that must be free there.
        needed_by: The loss if nothing can be written there, in a short sentence.
    """

    name: str
    variables: tuple[str, ...]
    default: str
    free: int
    needed_by: str


@functools.cache
def places() -> tuple[Place, ...]:
    """Return the folders that CANN writes to."""
    return _table("places", Place)


@dataclass(frozen=True)
class Product:
    """A product that uses CANN.

    Attributes:
        name: Its name.
        variable: The variable that names its folder.
        folders: Its usual folders below that of Ascend's software.
        libraries: The pattern of its libraries below its folder.
        package: Its installation package.
    """

    name: str
    variable: str
    folders: tuple[str, ...]
    libraries: str
    package: str


@functools.cache
def products() -> tuple[Product, ...]:
    """Return the products beside CANN."""
    return _table("products", Product)


@dataclass(frozen=True)
class Drivers:
    """Drivers of a CANN.

    Attributes:
        name: The CANN from which on they count, up to the next one in the table.
        oldest: The oldest driver with which it works.
        documented: Those that documents name.
    """

    name: str
    oldest: str
    documented: str


@functools.cache
def drivers() -> tuple[Drivers, ...]:
    """Return the drivers that documents name, the newest CANN first."""
    return _table("drivers", Drivers)
