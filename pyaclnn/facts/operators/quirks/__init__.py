# SPDX-License-Identifier: Apache-2.0
"""Checks and hooks of operators whose CANN code follows rules of its own at length."""

__all__: list[str] = []
