# SPDX-License-Identifier: Apache-2.0
"""Every code of CANN in words: what it says, why it comes up, what to do.

The tables are keyed by the names in CANN's headers; the numbers are the binding's to tell, see
`pyaclnn.cann.status`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.explanations.cluster import CLUSTER
from pyaclnn.facts.explanations.driver import DEVICE_MANAGEMENT, DRIVER, MESSAGES, DriverCode
from pyaclnn.facts.explanations.entry import Explanation
from pyaclnn.facts.explanations.graph_engine import GRAPH_ENGINE
from pyaclnn.facts.explanations.interface import INTERFACE
from pyaclnn.facts.explanations.interface_system import INTERFACE_SYSTEM
from pyaclnn.facts.explanations.neighbours import (
    COLLECTIVE,
    LOADER,
    TORCH_KINDS,
    TORCH_MODULES,
    LoaderError,
)
from pyaclnn.facts.explanations.operators import OPERATORS
from pyaclnn.facts.explanations.runtime_device import RUNTIME_DEVICE
from pyaclnn.facts.explanations.runtime_links import RUNTIME_LINKS
from pyaclnn.facts.explanations.runtime_resources import RUNTIME_RESOURCES
from pyaclnn.facts.explanations.runtime_usage import RUNTIME_USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CLUSTER",
    "COLLECTIVE",
    "DEVICE_MANAGEMENT",
    "DRIVER",
    "LOADER",
    "MESSAGES",
    "STATUS",
    "TORCH_KINDS",
    "TORCH_MODULES",
    "DriverCode",
    "Explanation",
    "LoaderError",
]

STATUS: Final[Mapping[str, Explanation]] = MappingProxyType(
    {
        **INTERFACE,
        **INTERFACE_SYSTEM,
        **RUNTIME_USAGE,
        **RUNTIME_RESOURCES,
        **RUNTIME_DEVICE,
        **RUNTIME_LINKS,
        **GRAPH_ENGINE,
        **OPERATORS,
    }
)
"""Status codes of the C interface by name."""
