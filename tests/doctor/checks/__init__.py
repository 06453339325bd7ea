# SPDX-License-Identifier: Apache-2.0
"""What is looked at without loading anything."""
