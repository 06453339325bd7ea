# SPDX-License-Identifier: Apache-2.0
"""Device process of the simulated NPU, which runs the operators."""

__all__: list[str] = []
