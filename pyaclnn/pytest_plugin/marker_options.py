# SPDX-License-Identifier: Apache-2.0
"""Options of the marker ``pyaclnn``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import pytest

from pyaclnn.base.errors import repr_of, text_of
from pyaclnn.base.spelling import nearest
from pyaclnn.facts.chips import all_chips

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MarkerOptions", "marker_options"]


_MODES: Final = "deferred|eager|shuffled:[0-9]{1,18}"


class MarkerOptions(NamedTuple):
    """Options of a test, from its markers.

    Attributes:
        soc: The chip; None for that of PYACLNN_MOCK_SOC.
        mode: The execution order of streams; None for that of PYACLNN_MOCK_MODE.
        contract: True if the test fails if it breaks a rule of CANN's contract.
        fresh: True if the device has a new process, instead of the last test's.
    """

    soc: str | None = None
    mode: str | None = None
    contract: bool = True
    fresh: bool = False


def marker_options(markers: Iterable[pytest.Mark]) -> MarkerOptions:
    """Combine the options of several markers.

    Args:
        markers: Those of the test, its class and its module; earlier ones outrank later ones.

    Returns:
        The options. An invalid marker fails the test with one line.
    """
    options = MarkerOptions()
    for marker in reversed([*markers]):
        unknown = [
            *marker.args,
            *(key for key in marker.kwargs if key not in MarkerOptions._fields),
        ]
        if unknown:
            _refuse("soc=, mode=, contract= and fresh=", unknown[0], _near(unknown[0]))
        options = options._replace(**marker.kwargs)
    if options.soc is not None:
        _require_chip(options.soc)
    if options.mode is not None and not re.fullmatch(_MODES, text_of(options.mode)):
        _refuse("'deferred', 'eager' or 'shuffled:SEED' as mode=", options.mode)
    for name in ("contract", "fresh"):
        value = getattr(options, name)
        if not isinstance(value, bool):
            _refuse(f"True or False as {name}=", value)
    return options


def _near(word: object) -> str:
    if text_of(word) in ("fault", "faults"):
        return "; the fixture npu_faults injects faults"
    near = nearest(text_of(word), MarkerOptions._fields)
    return f"; did you mean {near[0]}=?" if near else ""


def _require_chip(soc: object) -> None:
    names = [chip.soc_name for chip in all_chips()]
    text = text_of(soc)
    if not isinstance(soc, str) or text not in names:
        same = [name for name in names if name.lower() == text.lower()]
        near = " or ".join(map(repr, same or nearest(text, names, 3)))
        question = f"; did you mean {near}?" if near else f"; it may be {', '.join(names)}"
        _refuse("a chip as soc=", soc, question)


def _refuse(takes: str, value: object, question: str = "") -> NoReturn:
    pytest.fail(f"the marker pyaclnn takes {takes}, not {repr_of(value)}{question}", pytrace=False)
