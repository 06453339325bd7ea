# SPDX-License-Identifier: Apache-2.0
"""Calling the operators of a custom package, in two phases, from Python.

The compiled binding has the functions that its own headers declare. Those of a package are known
only when it is opened; what it declares stands in ``op_api/functions.json``.
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn.calling.arguments import BoolArray, IntArray, describe
from pyaclnn.cann import raw
from pyaclnn.cann.gate import cleanup, create, text
from pyaclnn.cann.library import backend
from pyaclnn.cann.status import describe_failure
from pyaclnn.errors import InvalidArgumentError
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from typing_extensions import Self

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.stream import Stream

__all__ = ["CustomOperators"]

_PHASE_1 = "GetWorkspaceSize"


class CustomOperators:
    """The operators of a package.

    Attributes:
        package: The package's folder.
        names: The operators' C names.
    """

    def __init__(self, package: str | os.PathLike[str]) -> None:
        """Open a package; the backend is loaded first, because the package needs its libraries.

        Args:
            package: A folder made by `pyaclnn.ascendc.package.build_package`. For its operators to
                run, ``ASCEND_CUSTOM_OPP_PATH`` names it before the first device is opened.

        Raises:
            OSError: There is no such package, or its library does not fit the backend.
        """
        backend()
        self.package = Path(package).resolve()
        api = self.package / "op_api"
        rows = json.loads((api / "functions.json").read_text(encoding="utf-8"))
        library = ctypes.CDLL(str(api / "lib" / "libcust_opapi.so"))
        self._library = library
        self._functions: dict[str, Any] = {}
        self._parameters: dict[str, list[str]] = {}
        for row in rows:
            address = ctypes.cast(getattr(library, row["name"]), ctypes.c_void_p).value
            self._functions[row["name"]] = raw.ffi.cast(row["c_type"], address)
            self._parameters[row["name"]] = row["parameters"]
        self.names = tuple(
            name.removesuffix(_PHASE_1) for name in self._functions if name.endswith(_PHASE_1)
        )

    def launch(self, operator: str, *arguments: Argument, stream: Stream | None = None) -> None:
        """Queue an operator on a stream, without waiting for it.

        The arrays' memory lives until the stream has passed the work. The workspace is the
        stream's.

        Args:
            operator: The C name of phase 2.
            *arguments: The arguments of phase 1 in its order, without the two out-parameters.
            stream: Where to queue the work; None means the default stream.

        Raises:
            InvalidArgumentError: The package has no such operator, or it takes more or fewer
                arguments.
            AclError: A phase refused the call; the error describes every argument.
        """
        names = self._names_of(operator, arguments)
        queue = require_stream(operator, stream, None)
        with queue.device.active(), _Descriptors() as descriptors:
            values = [descriptors.add(argument) for argument in arguments]
            size: Any = raw.ffi.new("uint64_t *")
            executor: Any = raw.ffi.new("aclOpExecutor **")
            known = describe(names, arguments)
            self._call(f"{operator}{_PHASE_1}", known, *values, size, executor)
            submitted = False
            try:
                if size[0]:
                    queue.workspace.grow(int(size[0]))
                workspace = queue.timeline.struct.workspace if size[0] else raw.NULL
                memories = [a.memory for a in arguments if isinstance(a, DeviceArray)]
                with queue.using(*memories):
                    submitted = True  # phase 2 consumes the executor, also when it fails
                    self._call(operator, known, workspace, size[0], executor[0], queue.pointer)
            finally:
                if not submitted:
                    cleanup("aclDestroyAclOpExecutor", executor[0])

    def _names_of(self, operator: str, arguments: tuple[Argument, ...]) -> list[str]:
        parameters = self._parameters.get(f"{operator}{_PHASE_1}")
        if parameters is None:
            raise InvalidArgumentError.of(
                "CustomOperators.launch",
                "operator",
                repr(operator),
                f"one of {', '.join(self.names)}, which {self.package} has",
            )
        names = parameters[:-2]
        if len(names) != len(arguments):
            raise InvalidArgumentError.of(
                operator, "arguments", f"{len(arguments)} values", f"{len(names)}: {names}"
            )
        return names

    def _call(self, name: str, known: dict[str, str], *values: Any) -> None:
        status = self._functions[name](*values)
        if status:
            raise describe_failure(name, status, text("aclGetRecentErrMsg") or None, known)


class _Descriptors:
    """The aclnn objects of one call; leaving the ``with`` statement destroys them."""

    def __init__(self) -> None:
        self._made: list[tuple[str, Pointer]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._made:
            destroyer, pointer = self._made.pop()
            cleanup(destroyer, pointer)

    def add(self, argument: Argument) -> Any:
        """Make what the C function takes for an argument."""
        if argument is None:
            return raw.NULL
        if isinstance(argument, DeviceArray):
            tensor = argument.tensor
            storage = raw.ffi.new("int64_t[]", [tensor.storage])
            return self._keep(
                "Tensor",
                tensor.dims,
                tensor.rank,
                tensor.data_type,
                tensor.strides,
                tensor.element_offset,
                raw.ACL_FORMAT_ND,
                storage,
                1,
                tensor.block.address,
            )
        if isinstance(argument, (IntArray, BoolArray)):
            kind = "IntArray" if isinstance(argument, IntArray) else "BoolArray"
            values = raw.ffi.new(argument.c_type, argument.values)
            return self._keep(kind, values, len(argument.values))
        return argument

    def _keep(self, kind: str, *arguments: Any) -> Pointer:
        pointer = create(f"aclCreate{kind}", *arguments)
        self._made.append((f"aclDestroy{kind}", pointer))
        return pointer
