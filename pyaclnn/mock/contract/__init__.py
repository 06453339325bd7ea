# SPDX-License-Identifier: Apache-2.0
"""Rules that the simulated NPU checks: the only table of them.

The C side gets its numbers and texts from here when it is built.
"""

from __future__ import annotations

from .collectives import COLLECTIVES
from .contexts import CONTEXTS
from .endings import ENDINGS
from .events import EVENTS
from .executors import EXECUTORS
from .graphs import GRAPHS
from .handles import HANDLES
from .memory import MEMORY
from .notifies import NOTIFIES
from .phases import PHASES
from .rule import Rule
from .virtual_memory import VIRTUAL_MEMORY

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = (
    *HANDLES,
    *EXECUTORS,
    *PHASES,
    *MEMORY,
    *VIRTUAL_MEMORY,
    *CONTEXTS,
    *EVENTS,
    *NOTIFIES,
    *GRAPHS,
    *COLLECTIVES,
    *ENDINGS,
)
"""Every rule, in the order in which they are listed."""
