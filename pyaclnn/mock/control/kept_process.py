# SPDX-License-Identifier: Apache-2.0
"""Device process that is kept from one opening of a device to the next."""

from __future__ import annotations

from pyaclnn.mock.control.tools import loaded

__all__ = ["keep_process"]


def keep_process(*, keep: bool) -> None:
    """Set whether the process of a device that closes is kept for the next device that opens.

    It keeps its modules, and nothing else: the next device has memory of its own, and a process in
    which an array of the last one's memory is alive is not kept. Nor is one that has run foreign
    code (``PYACLNN_MOCK_OPERATORS``, ``ASCEND_CUSTOM_OPP_PATH``), or has another environment than
    this process has now.

    Args:
        keep: Without it, a kept process ends.
    """
    for library in loaded():
        library.pyaclnn_mock_process_keep(int(keep))
