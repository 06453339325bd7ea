# SPDX-License-Identifier: Apache-2.0
"""The device process of the simulated NPU, without the C side."""
