# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn doctor``: does this machine's CANN work, and if not, what is the one thing to do?

The process that runs the checks never loads a vendor library; what has to be loaded is loaded by
children that may hang or crash.
"""

from __future__ import annotations

from pyaclnn.doctor.report.record import CheckResult, Evidence, Number, Report, Status

__all__ = ["CheckResult", "Evidence", "Number", "Report", "Status"]
