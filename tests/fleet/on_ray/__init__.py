# SPDX-License-Identifier: Apache-2.0
"""What runs on a cluster of Ray: several nodes on this machine, with simulated NPUs."""
