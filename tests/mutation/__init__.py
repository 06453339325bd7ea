# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: small changes of the product that the tests of its room must notice."""
