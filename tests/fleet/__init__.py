# SPDX-License-Identifier: Apache-2.0
"""Tests of `pyaclnn.fleet`; those that need Ray are marked ``fleet``."""
