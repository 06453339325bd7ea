# SPDX-License-Identifier: Apache-2.0
"""The NumPy oracle against independent truth."""
