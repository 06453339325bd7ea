# SPDX-License-Identifier: Apache-2.0
"""Real programs, unchanged, on the simulated NPU."""
