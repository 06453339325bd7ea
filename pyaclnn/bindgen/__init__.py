# SPDX-License-Identifier: Apache-2.0
"""The header reader and the generators that turn declarations into C sources.

A header under ``include_stubs/`` is the only place where a C function is declared. The reader
turns the headers into plain data (:mod:`.declarations`), and the generators make from that data
the compiled binding (:mod:`.binding`), the functions of the mock libraries that nobody writes by
hand (:mod:`.mock_exports`) and the gates of all that those export (:mod:`.mock_gates`). The build
runs ``__main__`` before ``pyaclnn`` can be imported, so this package imports nothing else of it.
"""

from __future__ import annotations

__all__: list[str] = []
