# SPDX-License-Identifier: Apache-2.0
"""What was found is told the same in every form."""
