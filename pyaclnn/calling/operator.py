# SPDX-License-Identifier: Apache-2.0
"""An operator as it is called: its signature, its two functions, and the messages it takes."""

from __future__ import annotations

import functools
import struct
import threading
from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import ffi, lib
from pyaclnn.base.errors import InvalidArgumentError, UnsupportedError
from pyaclnn.calling.arguments import describe
from pyaclnn.calling.message import Tail, slots_format, word_of
from pyaclnn.cann import raw
from pyaclnn.cann.library import declaration, function
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.facts.operators.catalogue import C_TYPES, plain_type
from pyaclnn.facts.operators.directions import directions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.cann.raw import Pointer
    from pyaclnn.cann.signatures import Signature

__all__ = ["NO_PLAN", "Operator", "kind_of", "operator"]

NO_PLAN: Final = raw.NULL
"""The executor is not to be kept: a flag for the launcher."""

_KINDS: Final = {c_type: letter for letter, c_type in C_TYPES.items()}
"""C type of a parameter, without const -> its letter in ``struct binding_operator``."""
_WRITTEN: Final = {"t": "w", "T": "W"}
_TAIL: Final = ("uint64_t *", "aclOpExecutor **")

_ALWAYS: Final = (
    "aclDestroyAclOpExecutor",
    "aclSetAclOpExecutorRepeatable",
    "aclSetTensorAddr",
    "aclGetRecentErrMsg",
    "aclrtPeekAtLastError",
    "aclrtGetCurrentContext",
    "aclrtSetCurrentContext",
)
_NEEDED: Final = {
    "t": ("aclCreateTensor", "aclDestroyTensor"),
    "T": ("aclCreateTensorList", "aclDestroyTensorList", "aclCreateTensor", "aclDestroyTensor"),
    "I": ("aclCreateIntArray", "aclDestroyIntArray"),
    "F": ("aclCreateFloatArray", "aclDestroyFloatArray"),
    "B": ("aclCreateBoolArray", "aclDestroyBoolArray"),
    "a": ("aclCreateScalar", "aclDestroyScalar"),
    "A": ("aclCreateScalarList", "aclDestroyScalarList", "aclCreateScalar", "aclDestroyScalar"),
}
"""Functions that the launcher calls, always and by kind of parameter; resolved before launches."""


def kind_of(c_type: str) -> str:
    """Return the letter of a parameter of some C type, or nothing if no operator takes such."""
    return _KINDS.get(plain_type(c_type), "")


class Operator:
    """An operator that can be launched.

    Which tensors it writes decides what is looked at for overlaps, and what the host must not read
    before it has waited. All are kept until the stream has passed the launch.

    Attributes:
        name: The C name of phase 2.
        names: The C names of the arguments.
        kinds: C type of each parameter; see ``struct binding_operator``.
        written: The places of the tensors, and lists of them, that it writes.
        struct: The same for the launcher.
        function: The launcher itself. It takes the C side of the timeline of the stream to use,
            that of the plan to make or ``NO_PLAN``, whether the caller has judged overlaps (the
            launcher goes by the first and last byte of each tensor), and the message. It answers
            0; less than 0 if CANN was not asked, see ``BINDING_GROW`` and its like; or CANN's
            refusal.
    """

    def __init__(
        self,
        phase_1: Signature,
        functions: tuple[Pointer, Pointer],
        written: frozenset[int] | None = None,
    ) -> None:
        """Get ready to call an operator.

        Args:
            phase_1: The declaration of its first phase.
            functions: Both phases, as they were found in a library.
            written: The places of the tensors it writes; None for those that the table of all
                operators says, or, of an operator that it has not, that names and types suggest.

        Raises:
            UnsupportedError: It takes what no operator of CANN takes.
            MissingSymbolError: The loaded libraries lack what launching it needs.
        """
        self.name = phase_1.name.removesuffix(PHASE_1)
        self.names = phase_1.parameters[:-2]
        types = [kind.removeprefix("const ") for kind in phase_1.types]
        plain = [kind_of(c_type) for c_type in phase_1.types[:-2]]
        if not all(plain) or tuple(types[-2:]) != _TAIL:
            odd = [f"{k} {n}" for k, n in zip(types, self.names, strict=False) if not kind_of(k)]
            message = (
                f"{self.name} takes {', '.join(odd) or 'no executor'}, which cannot be launched.\n"
                "Hint: call its functions through pyaclnn.cann.raw."
            )
            raise UnsupportedError(message, routine=self.name)
        if written is None:
            written = directions_of(self.name, self.names, phase_1.types[:-2]).written
        self.written = written
        self.kinds = "".join(
            _WRITTEN.get(kind, kind) if place in written else kind
            for place, kind in enumerate(plain)
        )
        needed = [symbol for kind in plain for symbol in _NEEDED.get(kind, ())]
        for symbol in dict.fromkeys([*_ALWAYS, *needed]):
            function(symbol)
        self._format = slots_format(self.kinds)
        self._pack = struct.Struct(self._format).pack
        self._functions = functions
        self._texts = [
            ffi.new("char[]", text.encode()) for text in (phase_1.name, self.name, self.kinds)
        ]
        self.struct: Any = ffi.new("struct binding_operator *")
        self.struct.phase1, self.struct.phase2 = functions
        self.struct.phase1_name, self.struct.phase2_name, self.struct.kinds = self._texts
        self.function: Callable[[Any, Any, int, bytes], int]
        if lib.binding_reaches(self.struct.kinds):
            self.function = functools.partial(lib.binding_launch, self.struct)
        else:
            self.call_in_python()

    def words(self, arguments: Sequence[Argument]) -> tuple[list[int | float], bytes]:
        """Return the words of the message of a launch, and its tail.

        Args:
            arguments: All arguments, in C order; the message refers to the arrays among them, so
                they must be kept as long as it is used.

        Raises:
            InvalidArgumentError: There are more or fewer, or C cannot take one for what it has to
                be.
        """
        if len(arguments) != len(self.kinds):
            given, wanted = f"{len(arguments)} values", f"{len(self.names)}: {[*self.names]}"
            raise InvalidArgumentError.of(self.name, "arguments", given, wanted)
        tail = Tail(self.name, len(self.kinds))
        words = []
        for tail.parameter, kind, argument in zip(self.names, self.kinds, arguments, strict=True):
            words.append(word_of(kind, argument, tail))
        return words, tail.content()

    def message(self, arguments: Sequence[Argument]) -> bytes:
        """Return the message of a launch; see ``words``."""
        words, tail = self.words(arguments)
        return self._pack(*words) + tail

    def packer(self, tail: bytes) -> Callable[..., bytes]:
        """Return what makes messages of the same tail.

        Args:
            tail: The tail, as ``words`` has made it.

        Returns:
            A function that takes all words and then the tail.
        """
        return struct.Struct(f"{self._format}{len(tail)}s").pack

    def call_in_python(self) -> None:
        """Have phase 1 called through libffi, which knows the calling convention of any machine."""
        self.struct.invoke = lib.binding_in_python
        self.function = self._function_in_python

    def _function_in_python(self, timeline: Any, plan: Any, judged: int, message: bytes) -> int:
        status: int = lib.binding_launch(self.struct, timeline, plan, judged, message)
        _stopped.raise_it()
        return status

    def describe(self, arguments: Sequence[Argument]) -> dict[str, str]:
        """Return the description of every argument by its C name, for error messages."""
        return describe(self.names, self.kinds, arguments)


@functools.cache
def operator(name: str, written: frozenset[int] | None = None) -> Operator:
    """Return an operator of the loaded libraries.

    Args:
        name: The C name of phase 2, e.g. ``aclnnRmsNorm``.
        written: The places of the tensors it writes; see :class:`Operator`.

    Raises:
        AttributeError: No header declares it.
        MissingSymbolError: The loaded libraries do not have it.
        UnsupportedError: It cannot be launched.
    """
    functions = (function(f"{name}{PHASE_1}"), function(name))
    declared = declaration(f"{name}{PHASE_1}")
    if declared is None:  # function() would have raised
        raise AttributeError(name)
    return Operator(declared, functions, written)


# ---- machines whose calling convention the binding does not know --------------------------------


class _Stopped(threading.local):
    """An exception, say of a signal handler, in the midst of a call that C had asked for."""

    by: BaseException | None = None

    def raise_it(self) -> None:
        by, self.by = self.by, None
        if by is not None:
            raise by


_stopped: Final = _Stopped()


def _keep(kind: type[BaseException], error: BaseException, trace: object) -> None:
    del kind, trace
    _stopped.by = error


def _call(op: Any, values: Any, size: Any, executor: Any) -> int:
    kinds = ffi.string(op.kinds).decode()
    phase_1: Any = ffi.cast(_libffi_type(kinds), op.phase1)
    plain = [
        values[place].real if kind in "df" else values[place].bits
        for place, kind in enumerate(kinds)
    ]
    status: int = phase_1(*map(_narrow, kinds, plain), size, executor)
    return status


@functools.cache
def _libffi_type(kinds: str) -> str:
    types = {"b": "_Bool", "d": "double", "f": "float", "c": "int8_t", "i": "int32_t"}
    types |= {"y": "int32_t", "q": "int64_t"}
    listed = "".join(f"{types.get(kind, 'uint64_t')}, " for kind in kinds)
    return f"int(*)({listed}uint64_t *, void **)"


def _narrow(kind: str, value: Any) -> Any:
    """Words are as wide as registers; libffi wants values of the parameter's own type."""
    if kind in "df":
        return value
    if kind == "b":
        return bool(value)
    return value - (1 << 64) if kind in "ciqy" and value >> 63 else value


ffi.def_extern(name="binding_in_python", error=int(raw.ACLNN_ERR_INNER), onerror=_keep)(_call)
