# SPDX-License-Identifier: Apache-2.0
# Types of the compiled conversions, declared in narrow_floats.h.
from typing import Any

class _FFI:
    def cast(self, cdecl: str, source: int) -> Any: ...

class _Lib:
    portable: int
    def widen(
        self, bfloat: bool, narrow: Any, stride: int, wide: Any, rows: int, columns: int, /
    ) -> None: ...
    def narrow(
        self, bfloat: bool, wide: Any, narrow: Any, stride: int, rows: int, columns: int, /
    ) -> None: ...

ffi: _FFI
lib: _Lib
