# SPDX-License-Identifier: Apache-2.0
"""What CANN's own code does beyond any rule, an operator a module: see `quirks_of`."""

__all__: list[str] = []
