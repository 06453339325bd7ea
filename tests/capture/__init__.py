# SPDX-License-Identifier: Apache-2.0
"""Capture of a program on the simulated NPU, and its replay."""
