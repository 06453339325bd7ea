# SPDX-License-Identifier: Apache-2.0
"""Contract checks, execution orders and fault injection of the simulated NPU."""
