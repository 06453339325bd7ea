# SPDX-License-Identifier: Apache-2.0
"""Explanations of every code of CANN and of what surrounds it: meaning, causes, next step.

Each TOML file beside this module is a group of codes: its ``title``, its ``codes``, and under
``texts`` what several of them share; ``shared.toml`` has the texts that several files share.
``{name}`` in a text is replaced by one of these; a brace itself is written twice. `STATUS` is keyed
by the names in CANN's headers; `pyaclnn.cann.status` joins these with their numbers.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pyaclnn.facts.explanations.explanation import DriverCode, Explanation, LoaderError
from pyaclnn.facts.explanations.table import Table

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


def _explanation(key: str, row: dict[str, Any]) -> tuple[str, Explanation]:
    return key, Explanation.of(row)


def _numbered(key: str, row: dict[str, Any]) -> tuple[int, Explanation]:
    return int(key), Explanation.of(row)


def _driver_code(key: str, row: dict[str, Any]) -> tuple[int, DriverCode]:
    return int(key), DriverCode(row.pop("name"), row.pop("becomes"), Explanation.of(row))


def _module(key: str, row: str) -> tuple[int, str]:
    return int(key), row


def _loader_error(key: str, row: dict[str, Any]) -> tuple[str, LoaderError]:
    return key, LoaderError(re.compile(row.pop("pattern")), Explanation.of(row))


STATUS: Final = Table("status/*.toml", _explanation)
"""Status codes of the C interface by name; a group a file."""
DRIVER: Final = Table("driver.toml", _driver_code)
"""Codes of the driver by number."""
DEVICE_MANAGEMENT: Final = Table("device_management.toml", _numbered)
"""Codes of the device management interface by number."""
MESSAGES: Final = Table("messages.toml", _explanation)
"""Beginnings of CANN's error texts; the longest that fits counts."""
COLLECTIVE: Final = Table("collective.toml", _explanation)
"""Beginnings of the error texts of the collective communication."""
LOADER: Final = Table("loader.toml", _loader_error)
"""Error texts of the dynamic loader; the first that fits counts."""
CLUSTER: Final = Table("cluster.toml", _explanation)
"""Findings about a cluster by their ids."""
TORCH_KINDS: Final = Table("torch_kinds.toml", _numbered)
"""Kinds of errors of torch_npu: the last three digits after ``ERR``."""
TORCH_MODULES: Final = Table("torch_modules.toml", _module)
"""Origins of errors of torch_npu: the first two digits after ``ERR``."""
