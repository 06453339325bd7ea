# SPDX-License-Identifier: Apache-2.0
"""The doctor: what it finds, and how it tells it."""
