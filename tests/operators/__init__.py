# SPDX-License-Identifier: Apache-2.0
"""Operators held against tables of what is known about CANN."""
