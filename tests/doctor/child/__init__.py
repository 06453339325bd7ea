# SPDX-License-Identifier: Apache-2.0
"""Children that hang, crash or vanish."""
