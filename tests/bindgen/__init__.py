# SPDX-License-Identifier: Apache-2.0
"""The generators of C, tried."""
