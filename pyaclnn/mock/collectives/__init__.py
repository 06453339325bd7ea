# SPDX-License-Identifier: Apache-2.0
"""Rendezvous process of the ranks of a communicator, which maps the memory of all of them.

A rank sends each operation that its stream reaches. When all ranks have arrived, the operation is
computed here, in the memory of their devices, and each rank gets the result. So ranks of one
process and of several processes behave alike.
"""

from __future__ import annotations

__all__: list[str] = []
