# SPDX-License-Identifier: Apache-2.0
"""Objects whose every text raises, as each argument of every public function and method.

Nothing is listed: functions, methods and parameters are read from the package and its signatures.
"""

from __future__ import annotations

import inspect
import traceback
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn.facts.operators import all_operators

from .test_described import TRIED, arguments, to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.facts.operators import Operator


class TextRaised(Exception):  # noqa: N818  # it is what the tests look for
    """Raised by a text; no call may let it pass."""


class BadText(Exception):  # noqa: N818  # as above
    """An exception of a caller's object, whose text raises."""

    def __str__(self) -> str:
        raise TextRaised

    __repr__ = __str__


def _text(*_: object) -> str:
    raise TextRaised


def _protocol(kind: type[Exception]) -> Callable[..., object]:
    def method(*_: object, **_named: object) -> object:
        raise kind

    return method


class BadValueError(BadText, ValueError):
    """The same as a ValueError, which much code expects."""


class BadTypeError(BadText, TypeError):
    """The same as a TypeError."""


PROTOCOLS = [
    *("__array__", "__dlpack__", "__dlpack_device__", "__index__", "__int__", "__float__"),
    *("__bool__", "__len__", "__iter__", "__getitem__", "__fspath__", "__call__", "__eq__"),
    *("__hash__", "__complex__", "__buffer__"),
]
TEXTS = dict.fromkeys(["__repr__", "__str__", "__format__"], _text)


def hostile(kind: type[Exception] | None, base: type = object) -> Any:
    """Return an object whose texts raise, and whose protocols do if a kind is given."""
    space: dict[str, Any] = dict(TEXTS)
    if kind is not None:
        space |= dict.fromkeys(PROTOCOLS, _protocol(kind))
    return type("Hostile", (base,), space)()


OBJECTS: dict[str, Callable[[], Any]] = {
    "text": lambda: hostile(None),
    "ValueError": lambda: hostile(BadValueError),
    "TypeError": lambda: hostile(BadTypeError),
    "str": lambda: hostile(None, str),
    "int": lambda: hostile(None, int),
    "list": lambda: [hostile(None)],
    "tuple": lambda: (1, hostile(None)),
    "dict": lambda: {"a": hostile(None)},
}


PACKAGE = (f"{pyaclnn.__path__[0]}/", "<pyaclnn")
"""How names of its files begin, and those of functions that it writes."""
BY_NUMPY = {"np.asarray(", "x.transpose("}
"""Calls in which NumPy converts an object by its text; the caller gets the object's own error."""
UNGUARDED: list[str] = []
"""Places that formatted an object of the test that runs."""


@pytest.fixture(autouse=True)
def _no_text_was_formatted() -> Iterator[None]:
    UNGUARDED.clear()
    yield
    assert set(UNGUARDED) == set()


def check(call: Callable[..., Any], *given: Any, **named: Any) -> None:
    """Make a call, which may fail in any way but by the text of an object."""
    try:
        found = call(*given, **named)
        if hasattr(found, "close"):
            found.close()
        text = ""
    except TextRaised as error:
        where = traceback.extract_tb(error.__traceback__)[-2]
        theirs = any(made in str(where.line) for made in BY_NUMPY)
        if where.filename.startswith(PACKAGE) and not theirs:
            UNGUARDED.append(f"{where.filename}:{where.lineno}: {where.line}")
        return
    except BadText:  # the object's own
        return
    except Exception as error:  # noqa: BLE001  # any other
        text = str(error)  # it can be shown
    assert isinstance(text, str)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("operator", TRIED, ids=lambda op: op.name)
def test_no_argument_of_an_operator_breaks_its_refusal(operator: Operator, kind: str) -> None:
    function = getattr(pyaclnn, operator.name)
    host = arguments(operator)
    for given in (host, to_device(host)):
        for name in inspect.signature(function).parameters:
            check(function, **{**given, name: OBJECTS[kind]()})


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function and class that is no operator."""
    operators = {operator.name for operator in all_operators().values()}
    for name in sorted(set(dir(pyaclnn)) - operators):
        value = getattr(pyaclnn, name)
        if name.startswith("_"):
            continue
        if isinstance(value, types.ModuleType):
            for inner in getattr(value, "__all__", ()) if name in MODULES else ():
                if callable(getattr(value, inner)):
                    yield f"{name}.{inner}", getattr(value, inner)
        elif callable(value):
            yield name, value


NOT_TRIED = {"close", "__exit__", "__del__", "__class__", "__init__", "__delattr__"}
"""Methods that end the thing, and one of Python 3.10's own; classes are tried as functions."""
MODULES = {"accuracy", "mock", "tiling", "ascendc", "array_api"}


def parameters(call: Callable[..., Any]) -> tuple[int, list[str]]:
    """Return how many arguments a call needs, and the names of those it takes by name."""
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return 1, []
    needed = sum(p.default is p.empty and p.kind in (0, 1) for p in found)
    return needed, [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def attack(call: Callable[..., Any], kind: str, sane: list[Any]) -> None:
    make = OBJECTS[kind]
    needed, names = parameters(call)
    check(call, *[make() for _ in range(max(needed, 1))])
    for place in range(needed):
        for other in sane:
            check(call, *[make() if i == place else other for i in range(needed)])
    for name in names[needed:]:
        for other in sane:
            check(call, *[other] * needed, **{name: make()})


@pytest.mark.parametrize("kind", OBJECTS)
def test_no_argument_of_a_function_breaks_its_refusal(device: pyaclnn.Device, kind: str) -> None:
    x = np.ones((2, 3), np.float32)
    array = pyaclnn.to_device(x, device)
    tried = list(public())
    for _, call in tried:
        attack(call, kind, [x, array, 1, "x"])
    assert len(tried) > 60


@pytest.mark.parametrize("kind", OBJECTS)
def test_no_argument_of_a_method_breaks_its_refusal(device: pyaclnn.Device, kind: str) -> None:
    array = pyaclnn.to_device(np.ones((2, 3), np.float32), device)
    stream = pyaclnn.Stream(device)
    things: list[Any] = [
        array, stream, pyaclnn.Event(device), pyaclnn.Buffer(64, device), device,
        pyaclnn.plan(pyaclnn.rms_norm, array, array[0]),
    ]  # fmt: skip
    tried = 0
    for thing in things:
        for name in dir(type(thing)):
            method = getattr(type(thing), name, None)
            is_private = name[0] == "_" != name[1]
            if callable(method) and not is_private and name not in NOT_TRIED:
                bound = getattr(thing, name, None)
                if callable(bound) and not isinstance(method, type):
                    attack(bound, kind, [array, 1])
                    tried += 1
    assert tried > 150
    device.synchronize()
    for thing in reversed(things[:4] + things[5:]):
        thing.close()


def test_the_attack_sees_a_text_that_is_not_guarded() -> None:
    def refuse(value: object) -> None:
        raise ValueError(f"{value!r}")

    check(refuse, hostile(None))
    assert UNGUARDED == []  # it is no code of the package
    space: dict[str, Any] = {}
    code = compile("def show(value): return f'{value!r}'", f"{PACKAGE[0]}wrong.py", "exec")
    exec(code, space)  # noqa: S102  # as a file of the package
    check(space["show"], hostile(None))
    assert len(UNGUARDED) == 1
    UNGUARDED.clear()
