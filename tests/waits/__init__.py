# SPDX-License-Identifier: Apache-2.0
"""Waits of programs whose device hangs, and what ends them."""
