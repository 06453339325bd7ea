# SPDX-License-Identifier: Apache-2.0
"""What things cost: `python -m tests.benchmarks`. The test suite asserts nothing about time."""
