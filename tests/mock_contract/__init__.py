# SPDX-License-Identifier: Apache-2.0
"""What the simulated NPU catches, in which order it works, and which faults it injects."""
