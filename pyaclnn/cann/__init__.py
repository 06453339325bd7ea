# SPDX-License-Identifier: Apache-2.0
"""The vendor's interface as it is: its libraries, functions, constants and status codes."""

__all__: list[str] = []
