# SPDX-License-Identifier: Apache-2.0
"""Process on an NPU of the cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from pyaclnn.health.command.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.health.checks.options import Options

__all__ = ["Probe"]


class Probe:
    """A process that holds one NPU, which it sees as device 0; a crash is its own."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin, with more variables than the node has."""
        os.environ.update(environment)

    def holds(self) -> list[str]:
        """Return the physical ids of the NPUs that the process was given."""
        ray = import_module("ray")  # an extra
        return [str(one) for one in ray.get_runtime_context().get_accelerator_ids()["NPU"]]

    def examine(self, options: Options) -> str:
        """Examine the NPU as ``pyaclnn doctor`` does, and return the report as JSON text.

        Args:
            options: The options; the device is the only one.
        """
        return run(replace(options, devices=(0,))).to_text()
