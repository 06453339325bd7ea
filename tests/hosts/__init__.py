# SPDX-License-Identifier: Apache-2.0
"""Large C++ programs, built from their unchanged sources for the simulated NPU."""
