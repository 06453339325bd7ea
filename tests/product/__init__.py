# SPDX-License-Identifier: Apache-2.0
"""Tests of the product as a user sees it."""
