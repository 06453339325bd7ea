# SPDX-License-Identifier: Apache-2.0
"""Rules about notifies, which CANN 9.1 has and 8.1 has not."""

from __future__ import annotations

from .rule import Rule

__all__ = ["NOTIFIES"]

_MAKE = "aclrtNotify notify;\naclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT);\n"
_BOTH = (
    "aclrtRecordNotify(notify, other);\naclrtWaitAndResetNotify(notify, stream, 0);\n"
    "aclrtMemsetAsync(device, BYTES, 1, BYTES, stream);\n"
)

NOTIFIES = (
    Rule(
        id="notify-destroyed-in-use",
        title="a notify is destroyed while a stream has still to wait for it",
        explanation="The wait is queued and refers to the notify, which may be given to somebody "
        "else by then: the stream goes on too early, or never.",
        fix="synchronize the stream that waits before aclrtDestroyNotify",
        source="CANN: aclrtDestroyNotify does not wait for streams",
        wrong=_MAKE + _BOTH + "aclrtDestroyNotify(notify);",
        right=_MAKE + _BOTH + "aclrtSynchronizeStream(stream);\naclrtDestroyNotify(notify);",
        since="9.1",
    ),
)
