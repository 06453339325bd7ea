# SPDX-License-Identifier: Apache-2.0
"""Trace of calls: every C call as a line of the log, if PYACLNN_LOG enables it.

The binding reports each call after it has returned, of those that the launcher makes without
Python's lock too. Where nothing is traced, it calls CANN as if there were no trace.
"""

from __future__ import annotations

import _thread
import itertools
from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import ffi, lib
from pyaclnn.base.variable import choice
from pyaclnn.cann.signatures import signature
from pyaclnn.cann.status import meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn._binding import CType
    from pyaclnn.cann.signatures import Signature

__all__ = ["LOGGER", "VARIABLE", "begin_trace", "traced", "tracing"]

VARIABLE: Final = "PYACLNN_LOG"
"""The environment variable that enables logging."""
LOGGER: Final = "pyaclnn.calls"
"""The name of the logger that gets the calls, at level DEBUG."""

_FORMAT: Final = "%(asctime)s %(threadName)s %(name)s: %(message)s"
_STATUSES: Final = ("int", "int32_t")
_LONGEST: Final = 80
"""The most bytes of a string that are shown."""
_POINTERS: Final = "twTWIFBaA"
_SIGNED: Final = "ciqy"

_PHASE_2: Final = "aclnnStatus(*)(void *, uint64_t, aclOpExecutor *, aclrtStream)"


class _State:
    """Return whether calls are traced; the binding cannot stop tracing."""

    on = False
    log: Callable[..., None]


def begin_trace() -> None:
    """Have calls traced from now on, if the environment wants it.

    Lines go to the handlers that the program has set up, else to stderr.

    Raises:
        InvalidArgumentError: PYACLNN_LOG names what cannot be logged.
    """
    if not choice(VARIABLE, "calls"):
        return
    import logging  # noqa: PLC0415  # most programs trace nothing, and do without it

    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.DEBUG)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT))
        logger.addHandler(handler)
    _State.on, _State.log = True, logger.debug
    lib.binding_trace()


def tracing() -> bool:
    """Return whether calls are traced."""
    return _State.on


def traced(declared: Signature, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of an operator that Python calls by itself, with a trace.

    Args:
        declared: Its declaration.
        function: It, as it was found in a library.
    """

    def call(*arguments: Any) -> Any:
        status = function(*arguments)
        words = [_shown(value, answered=status == 0) for value in arguments]
        _write(declared.name, words, _status(status))
        return status

    return call


def _write(name: str, words: Iterable[str], answer: str) -> None:
    declared = signature(name)
    known = declared.parameters if declared else ()
    pairs = itertools.zip_longest(known, words, fillvalue="?")
    _State.log("%s(%s)%s", name, ", ".join(map("=".join, pairs)), answer)


def _status(status: int) -> str:
    return f" = {status} {meaning(status).name}" if status else " = 0"


def _answer(kind: CType, result: Any) -> tuple[str, bool]:
    """Return the result of a function in words, and whether it is a success."""
    if kind.kind == "void":
        return "", True
    value = ffi.cast(ffi.typeof(f"{kind.cname} *"), result)[0]
    if kind.cname not in _STATUSES or value == 0:
        return f" = {_shown(value, answered=True)}", True
    return _status(value), False


def _shown(value: Any, *, answered: bool) -> str:
    """A value in words; where a pointer leads is looked at if the call has succeeded."""
    if not isinstance(value, ffi.CData):
        return repr(value)
    kind = ffi.typeof(value)
    if kind.kind != "pointer":
        return kind.cname
    pointer: Any = value
    address = f"0x{int(ffi.cast('uintptr_t', value)):x}" if value else "NULL"
    if not answered or not value:
        return address
    if kind.item.cname == "char":
        return repr(ffi.string(pointer, _LONGEST).decode(errors="replace"))
    looked_at = kind.item.kind in {"primitive", "enum", "pointer"}
    return f"{address} -> {_shown(pointer[0], answered=False)}" if looked_at else address


def _called(name: Any, arguments: Any, result: Any) -> None:
    spoken = ffi.string(name).decode()
    compiled = getattr(lib, spoken, None)
    kind = ffi.typeof(_PHASE_2 if compiled is None else compiled)
    answer, answered = _answer(kind.result, result)
    values = (
        ffi.cast(ffi.typeof(f"{each.cname} *"), arguments[place])[0]
        for place, each in enumerate(kind.args)
    )
    _write(spoken, (_shown(value, answered=answered) for value in values), answer)


def _called_phase_1(op: Any, values: Any, size: Any, executor: Any, status: int) -> None:
    kinds = ffi.string(op.kinds).decode()
    words = [_word(kind, values[place]) for place, kind in enumerate(kinds)]
    words += [_shown(out, answered=status == 0) for out in (size, executor)]
    _write(ffi.string(op.phase1_name).decode(), words, _status(status))


def _word(kind: str, value: Any) -> str:
    """An argument of phase 1 in words, by its letter in ``struct binding_operator``."""
    if kind in "df":
        return repr(value.real)
    if kind in _POINTERS:
        return _shown(value.pointer, answered=False)
    if kind == "s":
        return _shown(ffi.cast("char *", value.pointer), answered=True)
    if kind == "b":
        return repr(bool(value.bits))
    return repr(value.bits - (1 << 64) if kind in _SIGNED and value.bits >> 63 else value.bits)


def _failed(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """Have Ctrl-C, which came while a line was written, come again after the call."""
    del trace
    if not issubclass(kind, KeyboardInterrupt):
        raise error
    _thread.interrupt_main()


ffi.def_extern(name="binding_traced", onerror=_failed)(_called)
ffi.def_extern(name="binding_traced_phase_1", onerror=_failed)(_called_phase_1)
