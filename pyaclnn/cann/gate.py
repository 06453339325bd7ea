# SPDX-License-Identifier: Apache-2.0
"""The gate: the one place that calls into CANN and judges what comes back.

``call`` and its relatives raise; ``cleanup`` is the second door, for finalizers and ``close``,
and never raises.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import lib
from pyaclnn.base.errors import AclError, CleanupWarning, ContextError, text_of
from pyaclnn.cann import raw
from pyaclnn.cann.library import function as _resolve
from pyaclnn.cann.signatures import signature
from pyaclnn.cann.status import code_named, describe_failure, meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.cann.raw import Pointer

__all__ = [
    "OUT",
    "Silence",
    "call",
    "cleanup",
    "create",
    "described",
    "fetch",
    "give_back",
    "hold",
    "let_go",
    "refuse_if_forked",
    "report",
    "silence",
    "text",
]

OUT: Final = object()
"""Stands for an out-parameter in the arguments of ``fetch``."""


class Silence:
    """State of the gate: CANN may still be called, and clean-up reports failures.

    Attributes:
        finalised: There is nothing left to release.
        forked: The devices belong to the process that this one was forked from.
        reports: Failures of clean-up are worth a warning.
    """

    def __init__(self) -> None:
        self.finalised = False
        self.forked = False
        self.reports = True


silence: Final = Silence()
"""The process's one; set by the runtime when it is finalised or no longer ours to judge."""


def refuse_if_forked(routine: str) -> None:
    """Refuse a call in a process that was forked from one which had initialised CANN.

    Args:
        routine: The function that was called.

    Raises:
        ContextError: This is such a process.
    """
    if silence.forked:
        message = (
            "this process was forked from one that already used CANN, whose devices do not "
            "survive a fork.\nHint: start workers with the 'spawn' method of multiprocessing."
        )
        raise ContextError(message, routine=routine)


def call(
    name: str,
    *arguments: object,
    describe: Callable[[], Mapping[str, str]] | None = None,
    accepted: str = "",
) -> bool:
    """Call a function that returns a status.

    Args:
        name: The C function.
        *arguments: Its arguments, as the compiled binding takes them.
        describe: Gives the description of each argument, if the caller knows better than their
            plain values; only called on failure.
        accepted: C name of a status that is no failure.

    Returns:
        True if the status is 0 and not the accepted one.

    Raises:
        AclError: The status is another; of the sub-class that fits the code.
        ContextError: This process was forked from one that had initialised CANN.
    """
    if silence.forked:
        refuse_if_forked(name)
    status = _resolve(name)(*arguments)
    if not status:
        return True
    # An error would read the explanations of all codes, which costs 20 ms.
    if accepted and status == code_named(accepted):
        _recent_text()  # which would be taken for that of the next failure
        return False
    raise _failure(name, status, arguments, describe)


def _failure(
    name: str,
    status: int,
    arguments: tuple[object, ...],
    describe: Callable[[], Mapping[str, str]] | None = None,
) -> AclError:
    # The text belongs to this thread and to the last failure: nothing may come between.
    detail = _recent_text()
    known = describe() if describe else described(name, arguments)
    return describe_failure(name, status, detail, known, _cause(status))


def fetch(name: str, *arguments: object) -> Any:
    """Call a function that returns a status and hands out values.

    Args:
        name: The C function.
        *arguments: Its arguments, with ``OUT`` in the place of each out-parameter. Its type is
            taken from the declaration.

    Returns:
        The value of the out-parameter, or a tuple of them if there are several.

    Raises:
        AclError: The status is not 0.
    """
    types = _parameter_types(name)
    filled: list[Any] = [
        raw.ffi.new(kind) if argument is OUT else argument
        for kind, argument in zip(types, arguments, strict=True)
    ]
    call(name, *filled)
    values = [slot[0] for slot, argument in zip(filled, arguments, strict=True) if argument is OUT]
    return values[0] if len(values) == 1 else tuple(values)


def create(name: str, *arguments: object) -> Pointer:
    """Call a function that returns a new object, or NULL.

    Args:
        name: The C function.
        *arguments: Its arguments.

    Returns:
        The pointer, which is not NULL.

    Raises:
        AclError: It returned NULL; ``code`` is None, for there is none.
    """
    refuse_if_forked(name)
    pointer = _resolve(name)(*arguments)
    if pointer == raw.NULL:
        detail = _recent_text()
        lines = [f"{name} returned NULL.", f"CANN says: {detail or 'nothing more.'}", "Arguments:"]
        known = described(name, arguments)
        lines += [f"  {key} = {value}" for key, value in known.items()]
        raise AclError("\n".join(lines), routine=name, detail=detail, arguments=known)
    return pointer


def text(name: str, *arguments: object) -> str | None:
    """Call a function that returns a C string, or NULL; the string stays the library's."""
    refuse_if_forked(name)
    pointer = _resolve(name)(*arguments)
    if pointer == raw.NULL:
        return None
    return raw.ffi.string(pointer).decode(errors="replace")


def cleanup(name: str, *arguments: object) -> None:
    """Call a releasing function where raising is impossible.

    A failure becomes a ``CleanupWarning`` that names routine, handle and code. Once the runtime is
    finalised there is nothing left to release, and nothing is called.

    Args:
        name: The C function.
        *arguments: Its arguments; the first names the handle in the warning.
    """
    _clean_up(name, None, arguments)


def _clean_up(name: str, by: Callable[[], int] | None, arguments: tuple[object, ...]) -> None:
    if silence.finalised:
        return
    subject = _describe(arguments[0]) if arguments else "the process"
    try:
        function = _resolve(name)
        status = function(*arguments) if by is None else by()
        detail = _recent_text() if status else None
    except (AclError, AttributeError) as failure:
        report(f"{name} of {subject} could not be called: {text_of(failure)}")
        return
    if status:
        said = detail or "CANN says nothing more."
        report(f"{name} of {subject} failed with {status} ({meaning(status).name}): {said}")


def give_back(name: str, slot: Pointer) -> None:
    """Release the object that a slot holds, like ``cleanup``; a slot that is empty has been.

    An exception out of a signal handler may end this anywhere, and it may be called again.

    Args:
        name: The C function, whose only parameter is the object.
        slot: The slot that holds the object, as a ``void **``; empty afterwards.
    """

    def release() -> int:
        return int(lib.binding_give_back(slot, raw.ffi.addressof(lib, name)))

    if slot[0] != raw.NULL:
        _clean_up(name, release, (slot[0],))


def hold(name: str, number: int, held: Pointer) -> None:
    """Call a function that takes a number, like ``call``, and note that it succeeded.

    An exception out of a signal handler comes before both or after both.

    Args:
        name: The C function.
        number: Its only argument.
        held: Where that is noted, as an ``int *``; what is held is not taken twice.

    Raises:
        AclError: The status is not 0.
    """
    refuse_if_forked(name)
    _resolve(name)
    status = lib.binding_hold(held, 1, raw.ffi.addressof(lib, name), number)
    if status:
        raise _failure(name, status, (number,))


def let_go(name: str, number: int, held: Pointer) -> None:
    """Call a releasing function that takes a number, like ``cleanup``, if it is held.

    It may be called again wherever an exception out of a signal handler ended it.

    Args:
        name: The C function.
        number: Its only argument.
        held: Where ``hold`` has noted it.
    """

    def release() -> int:
        return int(lib.binding_hold(held, 0, raw.ffi.addressof(lib, name), number))

    if held[0]:
        _clean_up(name, release, (number,))


def report(message: str) -> None:
    """Issue a ``CleanupWarning``, unless the runtime is no longer ours to judge."""
    if silence.reports and not silence.finalised:
        warnings.warn(message, CleanupWarning, stacklevel=3)


def _recent_text() -> str | None:
    found = text("aclGetRecentErrMsg")
    return found.strip() or None if found else None


def _cause(status: int) -> int | None:
    if status != code_named("ACLNN_ERR_RUNTIME_ERROR"):
        return None
    return int(_resolve("aclrtPeekAtLastError")(raw.ACL_RT_THREAD_LEVEL))


@functools.cache
def _parameter_types(name: str) -> tuple[Any, ...]:
    kind = raw.ffi.typeof(_resolve(name))
    # Operators are called through pointers.
    return (kind.item if kind.kind == "pointer" else kind).args


def described(name: str, arguments: tuple[object, ...]) -> dict[str, str]:
    """Describe the arguments of a function, by the names that its header gives them."""
    declared = signature(name)
    names = declared.parameters if declared else ()
    return {key: _describe(value) for key, value in zip(names, arguments, strict=True)}


def _describe(value: object) -> str:
    if not raw.is_pointer(value):
        return repr(value)
    kind = raw.ffi.typeof(value)
    if kind.kind != "pointer":
        return str(value)
    return f"{kind.cname} 0x{raw.address_of(value):x}" if value else f"{kind.cname} NULL"
