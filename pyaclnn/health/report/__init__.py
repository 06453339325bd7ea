# SPDX-License-Identifier: Apache-2.0
"""Records of the doctor, and the formats in which they are shown."""

__all__: list[str] = []
