# SPDX-License-Identifier: Apache-2.0
"""``python -m pyaclnn``: the same as the command ``pyaclnn``."""

from __future__ import annotations

import sys

from pyaclnn.cli import main

if __name__ == "__main__":
    sys.exit(main())
