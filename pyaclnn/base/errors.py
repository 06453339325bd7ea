# SPDX-License-Identifier: Apache-2.0
"""The exception family: one base, one sub-class for each thing the user can do about it.

Every class also derives from the built-in exception that means the same, so ``except ValueError``
and ``except MemoryError`` work as they do elsewhere. All of them pickle with every attribute, for
which each can be made from its message alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "AclError",
    "BackendNotFoundError",
    "CleanupWarning",
    "ContextError",
    "DeadlineError",
    "DeviceLostError",
    "InvalidArgumentError",
    "KernelError",
    "MissingSymbolError",
    "OutOfMemoryError",
    "UnsupportedError",
    "repr_of",
    "text_of",
    "type_name",
]


class AclError(Exception):
    """A call into CANN failed, or was refused before it was made.

    Attributes:
        code: CANN's status code, or None when the host refused the call itself.
        name: The name CANN gives the code, e.g. ``ACLNN_ERR_PARAM_INVALID``; None without a code.
        routine: The C function, or the Python function, that failed.
        cause: The code of the runtime call inside an operator that made it fail, or None.
        detail: The text CANN left for this failure (``aclGetRecentErrMsg``), or None.
        arguments: Parameter name to description, for every argument of the call.

    Examples:
        >>> try:
        ...     pyaclnn.rms_norm(np.ones((2, 4), np.float64), np.ones(4))
        ... except pyaclnn.AclError as error:
        ...     print(error.routine, error.code, isinstance(error, ValueError))
        rms_norm None True
    """

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        name: str | None = None,
        routine: str | None = None,
        detail: str | None = None,
        arguments: Mapping[str, str] | None = None,
    ) -> None:
        """Keep ``message`` as the exception's text and the rest as attributes."""
        super().__init__(message)
        self.code = code
        self.name = name
        self.routine = routine
        self.detail = detail
        self.cause: int | None = None
        self.arguments: dict[str, str] = dict(arguments or {})


class InvalidArgumentError(AclError, ValueError):
    """An argument is not acceptable: correct it and call again.

    Attributes:
        argument: The argument's name in the Python signature; None when CANN refused the call.
        given: The value of the argument.
        expected: The values that it may have.

    Examples:
        >>> try:
        ...     pyaclnn.layer_norm(np.ones((2, 4), np.float32), 3)
        ... except pyaclnn.InvalidArgumentError as error:
        ...     print(error.argument, "is", error.given)
        normalized_shape is (3,)
    """

    argument: str | None = None
    given: str | None = None
    expected: str | None = None

    @classmethod
    def of(
        cls, routine: str, argument: str, given: str, expected: str, hint: str | None = None
    ) -> InvalidArgumentError:
        """Build the error of a refusal by the host.

        Args:
            routine: The Python function that refuses, without parentheses.
            argument: The name of the argument.
            given: The value of the argument.
            expected: The values that it may have.
            hint: The next step, if that is not plain from ``expected``.

        Returns:
            The error, not raised, with ``code`` None.
        """
        lines = [f"{routine}(): '{argument}' is {given}; it must be {expected}."]
        if hint:
            lines.append(f"Hint: {hint}")
        error = cls("\n".join(lines), routine=routine)
        error.argument, error.given, error.expected = argument, given, expected
        return error


class OutOfMemoryError(AclError, MemoryError):
    """Device or pinned memory, or another limited resource, is exhausted: release some.

    Examples:
        >>> with pyaclnn.mock.faults("aclrtMalloc=207001"):
        ...     try:
        ...         pyaclnn.Buffer(1 << 20)
        ...     except pyaclnn.OutOfMemoryError as error:
        ...         print(error.code, isinstance(error, MemoryError))
        207001 True
    """


class DeadlineError(AclError, TimeoutError):
    """A wait ended because its time was over; the work itself goes on.

    Examples:
        >>> with pyaclnn.Stream() as stream:
        ...     try:
        ...         stream.synchronize(timeout=60)
        ...     except pyaclnn.DeadlineError:
        ...         print("after a minute the work is still running")
    """


class ContextError(AclError, RuntimeError):
    """A device, stream or event was used closed, from another context, or out of order.

    Examples:
        >>> stream = pyaclnn.Stream()
        >>> stream.close()
        >>> try:
        ...     stream.synchronize()
        ... except pyaclnn.ContextError as error:
        ...     print(type(error).__name__)
        ContextError
    """


class DeviceLostError(AclError, OSError):
    """The device no longer answers: close what belongs to it and start again.

    Examples:
        >>> with pyaclnn.mock.faults("aclrtGetDeviceCount:1=507899"):
        ...     try:
        ...         pyaclnn.device_count()
        ...     except pyaclnn.DeviceLostError as error:
        ...         print(error.code)
        507899
    """


class KernelError(AclError, RuntimeError):
    """Work that had been queued failed on the device; its outputs are not usable.

    Examples:
        >>> x = pyaclnn.ones((2, 4))
        >>> with (
        ...     pyaclnn.Stream() as stream,
        ...     pyaclnn.mock.faults("aclrtSynchronizeStreamWithTimeout:1=507015"),
        ... ):
        ...     y = pyaclnn.layer_norm(x, 4, stream=stream).out
        ...     try:
        ...         stream.synchronize(timeout=60)
        ...     except pyaclnn.KernelError as error:
        ...         print(error.name)
        ACL_ERROR_RT_AICORE_EXCEPTION
    """


class UnsupportedError(AclError, RuntimeError):
    """This chip, driver or CANN cannot do what was asked.

    Examples:
        >>> with pyaclnn.mock.faults("aclrtMalloc:1=207000"):
        ...     try:
        ...         pyaclnn.Buffer(1 << 20)
        ...     except pyaclnn.UnsupportedError as error:
        ...         print(error.name)
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    """


class BackendNotFoundError(AclError, OSError):
    """No usable libraries were found.

    Attributes:
        attempts: Pairs of (path, the loader's message) in the order they were tried.

    Examples:
        >>> tried = [("/opt/libascendcl.so", "no file")]
        >>> error = pyaclnn.BackendNotFoundError("no CANN was found", attempts=tried)
        >>> for path, message in error.attempts:
        ...     print(path, message)
        /opt/libascendcl.so no file
    """

    def __init__(self, message: str, *, attempts: Sequence[tuple[str, str]] = ()) -> None:
        """Keep the list of attempts beside the message."""
        super().__init__(message)
        self.attempts = tuple(attempts)


class MissingSymbolError(AclError, AttributeError):
    """The loaded libraries do not have a function that this call needs.

    Attributes:
        symbol: The C function.
        files: Pairs of (library searched, what was found out about it).
        since: The CANN version whose headers first declare the function, e.g. ``"9.1"``.

    Examples:
        >>> try:
        ...     pyaclnn.fast_layer_norm(np.ones((2, 4), np.float32), 4)
        ... except pyaclnn.MissingSymbolError as error:
        ...     print(error.symbol, "needs CANN", error.since)
        aclnnFastLayerNormGetWorkspaceSize needs CANN 9.1
    """

    def __init__(
        self,
        message: str,
        *,
        symbol: str | None = None,
        files: Sequence[tuple[str, str]] = (),
        since: str | None = None,
    ) -> None:
        """Keep symbol, files and version beside the message."""
        super().__init__(message, routine=symbol)
        self.symbol = symbol
        self.files = tuple(files)
        self.since = since


class CleanupWarning(ResourceWarning):
    """Releasing something failed where raising is impossible; names routine, handle and code.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", pyaclnn.CleanupWarning)
        ...     pyaclnn.Buffer(64).close()
    """


def text_of(value: object, form: Callable[[object], str] = str) -> str:
    """Return the text of an object of foreign code, whose ``__str__`` may raise itself."""
    try:
        return form(value)
    except BaseException as failure:  # noqa: BLE001  # foreign code may also exit
        return f"its __{form.__name__}__ raised {type_name(failure)}"


def type_name(value: object) -> str:
    """Return the name of an object's type, which a metaclass of foreign code may hide."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def repr_of(value: object) -> str:
    """Return the representation of an object of foreign code, whose ``__repr__`` may raise."""
    return text_of(value, repr)


for _public in filter(lambda name: isinstance(globals()[name], type), __all__):
    globals()[_public].__module__ = "pyaclnn"  # the name by which users import and pickle it
