# SPDX-License-Identifier: Apache-2.0
"""Tests of the report formats: all contain the same findings."""
