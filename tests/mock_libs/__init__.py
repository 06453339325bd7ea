# SPDX-License-Identifier: Apache-2.0
"""Specification of the simulated NPU's C side."""
