# SPDX-License-Identifier: Apache-2.0
"""Tests of the package, its documentation and its examples."""
