# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a communicator meet: a process that reaches the memory of all of them.

A rank tells it what its stream has come to. When all ranks have come, the operation is done here,
in the memory of their devices, and each is told. So it makes no difference whether ranks are
devices of one process or of several.
"""

from __future__ import annotations

__all__: list[str] = []
