# SPDX-License-Identifier: Apache-2.0
"""Checks of a machine that load none of the vendor's libraries."""

__all__: list[str] = []
