# SPDX-License-Identifier: Apache-2.0
"""A kernel that reports what its device process has of its host, in the file ``SEEN``."""

from __future__ import annotations

import json
import locale
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn import reference
from pyaclnn.mock import operator

if TYPE_CHECKING:
    from numpy.typing import NDArray


@operator("aclnnRmsNormGrad")
def rms_norm_grad(
    dy: NDArray[Any], x: NDArray[Any], rstd: NDArray[Any], gamma: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    Path(os.environ["SEEN"]).write_text(json.dumps(seen()), encoding="utf-8")
    return reference.rms_norm_grad(dy, x, rstd, gamma)


def seen() -> dict[str, Any]:
    """Return what is to be the same in every device process, and by whom it was started."""
    return {
        "process": os.getpid(),
        "parent": os.getppid(),
        "variables": dict(os.environ),
        "folder": str(Path.cwd()),
        "descriptors": sorted(map(descriptor, Path("/proc/self/fd").iterdir())),
        "leads a group": os.getpgrp() == os.getpid(),
        "umask": os.umask(0o22),
        "limits": Path("/proc/self/limits").read_text(encoding="ascii"),
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "processors": sorted(os.sched_getaffinity(0)),
        "signals": {
            number: str(signal.getsignal(number))
            for number in sorted(signal.valid_signals())
            if signal.getsignal(number) is not signal.SIG_DFL
        },
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "locale": locale.setlocale(locale.LC_ALL),
        "path": sys.path,
        "arguments": sys.argv[1:],
        "seed": hash("the seed of hashes") if "PYTHONHASHSEED" in os.environ else 0,
        "threads": len(list(Path("/proc/self/task").iterdir())),
    }


def descriptor(path: Path) -> str:
    """Return the number of a descriptor and the kind of its file."""
    try:
        return f"{path.name} {path.readlink()}".partition(":[")[0]
    except OSError:  # the one that lists them
        return ""
