# SPDX-License-Identifier: Apache-2.0
"""What an installation of CANN offers, and how it differs from what is known."""

__all__: list[str] = []
