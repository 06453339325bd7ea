# SPDX-License-Identifier: Apache-2.0
"""Mistakes of users, as tables of inputs and the messages that they give."""
