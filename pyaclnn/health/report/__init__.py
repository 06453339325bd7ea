# SPDX-License-Identifier: Apache-2.0
"""What was found, and every form in which it is told."""

__all__: list[str] = []
