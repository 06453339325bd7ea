# SPDX-License-Identifier: Apache-2.0
"""The notation of the tables: all names of `table`, `words` and `release`."""

from tests.operators.release import *
from tests.operators.table import *
from tests.operators.words import *
