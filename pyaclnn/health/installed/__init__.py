# SPDX-License-Identifier: Apache-2.0
"""Operators of an installation of CANN, and its differences from the known declarations."""

__all__: list[str] = []
