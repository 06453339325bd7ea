# SPDX-License-Identifier: Apache-2.0
"""Operators of a custom package, called from Python.

Their parameters are read from the headers of the package; they are launched like CANN's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.launch import launch_operator
from pyaclnn.calling.operator import Operator
from pyaclnn.cann.library import backend, open_library
from pyaclnn.cann.signatures import PHASE_1, read_operators
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    import os

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.cann.signatures import Signature
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["CustomOperators"]


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
        self._library = open_library(api / "lib" / "libcust_opapi.so")
        self._declared: dict[str, Signature] = {}
        for path in sorted((api / "include").rglob("*.h")):
            self._declared.update(read_operators(path))
        self.names = tuple(n for n in self._declared if f"{n}{PHASE_1}" in self._declared)
        self._operators: dict[str, Operator] = {}

    def launch(self, operator: str, *arguments: Argument, stream: StreamLike | None = None) -> None:
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
        queue = require_stream(operator, stream, None)
        launch_operator(self.operator(operator), *arguments, stream=queue)

    def operator(self, name: str) -> Operator:
        """Return an operator of the package, ready to be launched or planned.

        Args:
            name: The C name of phase 2.

        Raises:
            InvalidArgumentError: The package has no such operator.
        """
        if name not in self.names:
            expected = f"one of {', '.join(self.names)}, which {self.package} has"
            raise InvalidArgumentError.of(
                "CustomOperators.launch", "operator", repr(name), expected
            )
        if name not in self._operators:
            phases = self._declared[f"{name}{PHASE_1}"], self._declared[name]
            found = self._library.find(phases[0]), self._library.find(phases[1])
            self._operators[name] = Operator(phases[0], found)
        return self._operators[name]
