# SPDX-License-Identifier: Apache-2.0
"""Steps of a child: the checks that load the vendor's libraries."""

__all__: list[str] = []
