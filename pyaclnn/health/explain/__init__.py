# SPDX-License-Identifier: Apache-2.0
"""Lookup of codes and of lines of logs: of CANN, of its driver and of the programs around it."""

__all__: list[str] = []
