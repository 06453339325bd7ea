# SPDX-License-Identifier: Apache-2.0
"""Calling operators: arguments, a checked call, its fast path, a launch, a plan."""

__all__: list[str] = []
