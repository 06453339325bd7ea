# SPDX-License-Identifier: Apache-2.0
"""The stress as a program, with binding and libraries that a sanitizer watches.

Without any calls it makes a race of its own in the libraries, to see that it would be told.
"""

from __future__ import annotations

import sys
import threading
from importlib import machinery, util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["main"]

_FINDS = 200


def main(folder: Path, threads: int, calls: int) -> None:
    """Make calls from threads, with what was built in Meson's folder."""
    path = str(next(folder.glob("_binding.*.so")))
    loader = machinery.ExtensionFileLoader("pyaclnn._binding", path)
    spec = util.spec_from_file_location(loader.name, path, loader=loader)
    assert spec is not None
    sys.modules[loader.name] = module = util.module_from_spec(spec)
    loader.exec_module(module)

    from pyaclnn.cann.library import select_backend  # noqa: PLC0415  # it takes that binding
    from pyaclnn.mock import libdir  # noqa: PLC0415

    select_backend(str(folder / "mock_libs" / libdir().name))
    if calls:
        from pyaclnn.runtime.stream import Stream  # noqa: PLC0415

        from .test_stress import stress  # noqa: PLC0415

        _find_beside_calls(threads)
        with Stream() as stream:
            stress(threads, calls, stream)
    else:
        _race()


def _find_beside_calls(threads: int) -> None:
    """Look for a function while others, who have found it, call it."""
    from pyaclnn.cann import raw  # noqa: PLC0415  # as above
    from pyaclnn.cann.library import function  # noqa: PLC0415  # as above

    together = threading.Barrier(threads)

    def find_and_call() -> None:
        count = raw.ffi.new("uint32_t *")
        together.wait()
        for _ in range(_FINDS):
            function("aclrtGetDeviceCount")(count)

    finding = [threading.Thread(target=find_and_call) for _ in range(threads)]
    for thread in finding:
        thread.start()
    for thread in finding:
        thread.join()


def _race() -> None:
    from pyaclnn.cann import raw  # noqa: PLC0415  # as above

    mode = raw.ffi.new("aclrtRunMode *")

    together = threading.Barrier(2)
    sys.setswitchinterval(1e-6)

    def ask() -> None:
        together.wait()
        for _ in range(100_000):
            raw.aclrtGetRunMode(mode)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
