# SPDX-License-Identifier: Apache-2.0
"""Releases of CANN that are known in full: each has its headers, and can be simulated.

Sources: CANN: version.cfg and acl_base.h of 8.1.RC1; CANN: runtime version.info and acl_rt.h of
9.1.0.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DEFAULT",
    "NEWEST",
    "RELEASES",
    "VARIABLE",
    "Release",
    "ReleaseError",
    "has",
    "simulated",
]

VARIABLE: Final = "PYACLNN_MOCK_CANN"
"""The environment variable that names the release to simulate."""


class Release(NamedTuple):
    """A release of CANN.

    Attributes:
        name: Its name in short, e.g. ``8.1``.
        version: Its name in full, e.g. ``8.1.RC1``.
        headers: The value of ``ACL_STUBS_CANN`` for its headers.
        interface: The version of its interface, which ``aclrtGetVersion`` returns.
        libraries: The libraries that a program links, in their order.
    """

    name: str
    version: str
    headers: int
    interface: tuple[int, int, int]
    libraries: tuple[str, ...]


class ReleaseError(ValueError):
    """No release has this name."""


def _read() -> Mapping[str, Release]:
    # Without pathlib, which every device process would have to import.
    path = os.path.join(os.path.dirname(__file__), "releases.json")  # noqa: PTH118, PTH120
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  # as above
        rows = json.load(file)
    lists = ("interface", "libraries")
    return {row["name"]: Release(**{**row, **{k: tuple(row[k]) for k in lists}}) for row in rows}


RELEASES: Final[Mapping[str, Release]] = _read()
"""Every release by its short name, the oldest first."""
DEFAULT: Final = next(iter(RELEASES))
"""The release that is simulated by default, the oldest."""
NEWEST: Final = [*RELEASES][-1]
"""The newest release."""


def has(release: str, since: str, until: str | None = None) -> bool:
    """Return whether a release has a function, which all releases from a first one on have.

    Args:
        release: Its short name.
        since: The short name of the first release that has it.
        until: The short name of the first later release that does not have it any more, if any.
    """
    names = list(RELEASES)
    last = len(names) if until is None else names.index(until)
    return names.index(since) <= names.index(release) < last


def simulated(environment: Mapping[str, str] | None = None) -> Release:
    """Return the release that is simulated.

    Args:
        environment: The environment in which ``PYACLNN_MOCK_CANN`` names it, in short or in full;
            that of the process if None.

    Raises:
        ReleaseError: There is no such release.
    """
    text = (os.environ if environment is None else environment).get(VARIABLE) or DEFAULT
    for release in RELEASES.values():
        if text in (release.name, release.version):
            return release
    known = " or ".join(RELEASES)
    raise ReleaseError(
        f"{VARIABLE} is {text!r}; it must be {known}, the releases that are simulated"
    )
