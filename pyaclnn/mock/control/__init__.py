# SPDX-License-Identifier: Apache-2.0
"""Control of the simulated NPU by its users: installation, reports, faults."""

__all__: list[str] = []
