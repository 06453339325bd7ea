# SPDX-License-Identifier: Apache-2.0
"""What a user does with the product, tried."""
