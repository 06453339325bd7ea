# SPDX-License-Identifier: Apache-2.0
"""The nouns: devices, contexts, streams, events, memory and arrays, and who owns them."""

__all__: list[str] = []
