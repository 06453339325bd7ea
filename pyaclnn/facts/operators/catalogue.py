# SPDX-License-Identifier: Apache-2.0
"""The operators of CANN, all of them: names, headers, releases, parameters and their directions.

Headers state names and types of an installation. This table serves where there are none, has the
directions of parameters, which no header states, and is compared with installations.
The build reads it too, before the package can be imported, so that this module imports nothing of
the package.

Sources: the operator headers of CANN 8.1.RC1; CANN: ops-nn, ops-math, ops-cv, ops-transformer and
opbase of 9.x, and the parameter tables of their documents, corrected by their sources.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["C_TYPES", "Entry", "LazyTable", "Parameter", "catalogue", "plain_type"]

_Row = TypeVar("_Row")

C_TYPES: Final[Mapping[str, str]] = {
    "t": "aclTensor *",
    "T": "aclTensorList *",
    "I": "aclIntArray *",
    "F": "aclFloatArray *",
    "B": "aclBoolArray *",
    "a": "aclScalar *",
    "A": "aclScalarList *",
    "s": "char *",
    "b": "bool",
    "d": "double",
    "f": "float",
    "c": "int8_t",
    "i": "int32_t",
    "q": "int64_t",
    "Q": "uint64_t",
    "y": "aclDataType",
}
"""Everything that operators take, without const, by a letter each."""
_FILE: Final = f"{__file__.rpartition('.')[0]}.txt"


def plain_type(c_type: str) -> str:
    """Return a C type without const, as ``C_TYPES`` has it."""
    plain = c_type.removeprefix("const ")
    return "int32_t" if plain == "int" else plain


class Parameter(NamedTuple):
    """A parameter of an operator's first phase.

    Attributes:
        name: Its C name.
        kind: Its C type, a letter of ``C_TYPES``.
        constant: True if its C type is const.
        read: True if the operator reads what it is given.
        written: True if the operator writes into it.
    """

    name: str
    kind: str
    constant: bool
    read: bool
    written: bool

    @property
    def c_type(self) -> str:
        """Its C type, e.g. ``const aclTensor *``."""
        return f"{'const ' * self.constant}{C_TYPES[self.kind]}"

    @property
    def direction(self) -> str:
        """``in``, ``out`` or ``inout``."""
        return "in" * self.read + "out" * self.written


class Entry(NamedTuple):
    """An operator.

    Attributes:
        name: The C name of its second phase; that of its first ends in ``GetWorkspaceSize``.
        header: The file below ``aclnnop/`` that declares it.
        releases: The releases in which it was found: ``8.1``, and ``9`` for 9.x; or one such as
            ``9.2``.
        removed: The first release that does not have it any more, or None.
        area: ``math``, ``nn``, ``cv`` or ``transformer``: since CANN 8.5 the library that has it.
        guessed: True if its directions are guessed from names and types, for want of a document.
        parameters: The parameters of its first phase but for the last two, ``uint64_t *`` and
            ``aclOpExecutor **``, which are the same for all.
        note: A remark for callers, which its C header has; or empty.
    """

    name: str
    header: str
    releases: tuple[str, ...]
    removed: str | None
    area: str
    guessed: bool
    parameters: tuple[Parameter, ...]
    note: str = ""

    def is_in(self, release: str) -> bool:
        """True if a release such as ``9.1`` has it: later ones do as well, until it is removed."""
        number = _number(release)
        if self.removed is not None and number >= _number(self.removed):
            return False
        return number >= min(map(_number, self.releases))


class LazyTable(Mapping[str, _Row]):
    """Rows by name; the line of one is parsed when it is looked up.

    Args:
        lines: The lines by name.
        parse: Parses one.
    """

    def __init__(self, lines: Mapping[str, str], parse: Callable[[str], _Row]) -> None:
        self._lines, self._parse = lines, parse
        self._parsed: dict[str, _Row] = {}

    def __getitem__(self, name: str) -> _Row:
        found = self._parsed.get(name)
        if found is None:
            found = self._parsed[name] = self._parse(self._lines[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@functools.cache
def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _entry(line: str) -> Entry:
    line, _, note = line.partition(" # ")
    name, header, column, area, source, *parameters = line.split(" ")
    releases = column.split(",")
    removed = releases.pop()[1:] if releases[-1].startswith("-") else None
    return Entry(
        name,
        header,
        tuple(releases),
        removed,
        area,
        source == "guessed",
        tuple(map(_parameter, parameters)),
        note,
    )


def _parameter(text: str) -> Parameter:
    name, _, marks = text.partition(":")
    kind = marks[0]
    return Parameter(
        name,
        kind,
        constant=C_TYPES[kind].endswith("*") and "*" not in marks,
        read=">" not in marks,
        written=marks[-1] in ">=",
    )


@functools.cache
def catalogue() -> Mapping[str, Entry]:
    """Return every known operator, by the C name of its second phase."""
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # pathlib costs more than all this
        lines = [line for line in file if not line.startswith("#")]
    return LazyTable({line.partition(" ")[0]: line.rstrip("\n") for line in lines}, _entry)
