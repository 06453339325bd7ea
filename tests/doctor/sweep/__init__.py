# SPDX-License-Identifier: Apache-2.0
"""Sweep over every generic fault of a healthy machine: ``python -m tests.doctor.sweep --help``."""
