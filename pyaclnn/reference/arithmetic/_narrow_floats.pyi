# SPDX-License-Identifier: Apache-2.0
# Types of the compiled functions, declared in narrow_floats.h, special.h and strips.h.
from collections.abc import Sequence
from typing import Any

class _FFI:
    def cast(self, cdecl: str, source: int) -> Any: ...
    def from_buffer(self, cdecl: str, buffer: Any) -> Any: ...
    def new(self, cdecl: str, init: Sequence[Any]) -> Any: ...

class _Lib:
    portable: int
    ERF: int
    ERFC: int
    LGAMMA: int
    def widen(
        self, bfloat: bool, narrow: Any, stride: int, wide: Any, rows: int, columns: int, /
    ) -> None: ...
    def narrow(
        self, bfloat: bool, wide: Any, narrow: Any, stride: int, rows: int, columns: int, /
    ) -> None: ...
    def map_special(self, function: int, x: Any, out: Any, count: int, /) -> None: ...
    def run_strips(self, job: Any, threads: int, /) -> None: ...

ffi: _FFI
lib: _Lib
