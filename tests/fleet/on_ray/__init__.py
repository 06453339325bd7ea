# SPDX-License-Identifier: Apache-2.0
"""Tests on a Ray cluster: several nodes on this machine, with simulated NPUs."""
