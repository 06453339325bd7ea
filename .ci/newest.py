# SPDX-License-Identifier: Apache-2.0
"""Install the newest torch-npu that the index has for this Python, and the PyTorch that it needs.

``python .ci/newest.py [REQUIREMENT]``; a requirement is, for example, ``torch-npu==2.14.*``.
The exit status is 1 where nothing can be had in time, and the last line states why.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys

PATIENCE = 420
"""Seconds. Each release of PyTorch on the index is for CUDA, and 3 GB of downloads."""
PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary=:all:")
ONLY_ASK = ("--dry-run", "--ignore-installed", "--no-deps", "--report=-")


class NotHereError(Exception):
    """The index has no such release, or it did not come in time."""


def find(requirement: str) -> dict[str, list[str]]:
    """Return the newest release that the index has for this Python, with what it needs."""
    report = json.loads(_pip(*ONLY_ASK, requirement))
    [found] = [item["metadata"] for item in report["install"]]
    return {f"{found['name']}=={found['version']}": found.get("requires_dist", [])}


def _pip(*arguments: str) -> str:
    command = [sys.executable, *PIP, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"pip did not end in {PATIENCE} s: {' '.join(command)}"
        raise NotHereError(message) from None
    if done.returncode:
        raise NotHereError(done.stderr.strip().rpartition("\n")[2])
    return done.stdout


def main(requirement: str = "torch-npu") -> None:
    """Install it, after a line that names it."""
    python = ".".join(platform.python_version_tuple()[:2])
    try:
        [(newest, needs)] = find(requirement).items()
        found = f"the newest {requirement} for Python {python}: {newest}; needs {', '.join(needs)}"
        sys.stdout.write(f"{found}\n")
        sys.stdout.flush()
        _pip(newest)
    except NotHereError as error:
        sys.exit(f"no {requirement} can be had for Python {python}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
