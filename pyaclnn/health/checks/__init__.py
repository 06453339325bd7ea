# SPDX-License-Identifier: Apache-2.0
"""What is looked at on a machine, without loading anything of the vendor's."""

__all__: list[str] = []
