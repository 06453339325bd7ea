# SPDX-License-Identifier: Apache-2.0
"""Tests of the checks that load no library."""
