# SPDX-License-Identifier: Apache-2.0
"""Protocol of the device process: messages, values, and the memory that both sides map."""

__all__: list[str] = []
