# SPDX-License-Identifier: Apache-2.0
"""Tests of `pyaclnn.health.fleet`; those that need Ray are marked ``fleet``."""
