# SPDX-License-Identifier: Apache-2.0
"""The processes that load the vendor's libraries, which may hang or crash, and who watches them."""

__all__: list[str] = []
