# SPDX-License-Identifier: Apache-2.0
"""Check that the functions named in a text of faults exist."""

from __future__ import annotations

import fnmatch
import functools
import os
import re

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.cann.simulator import writtendir
from pyaclnn.facts.interface import functions
from pyaclnn.facts.operators.catalogue import catalogue

__all__ = ["require_functions"]

_SETTINGS = {"memory", "seed", "stuck"}
# Packages of operators have functions that no header of CANN declares.
_PACKAGES = ("ASCEND_CUSTOM_OPP_PATH", "PYACLNN_MOCK_OPERATORS")


def require_functions(text: str, source: str = "") -> None:
    """Require that CANN has the functions of all faults; what is malformed is left to the parser.

    Args:
        text: Faults in the notation of `pyaclnn.mock.GRAMMAR`.
        source: Prefix of the message, such as the name of a variable.

    Raises:
        ValueError: No function matches, and it cannot be one of a package of operators.
    """
    packages = any(map(os.environ.get, _PACKAGES))
    for part in re.split(r"[;\n]", text):
        fault = "".join(part.split())
        name, is_fault, _ = fault.partition("=")
        name = name.partition(":")[0].partition("@")[0]
        if not is_fault or not name or name in _SETTINGS or _is_known(name):
            continue
        # C++ functions have mangled names, in no header.
        if not name.startswith("_Z") and not (packages and name.startswith("aclnn")):
            question = did_you_mean(name, _functions(), lead="; ", quote="")
            hint = question or "; `pyaclnn mock functions` lists them"
            raise ValueError(f"{source}{fault!r} is no fault: CANN has no such function{hint}")


def _is_known(name: str) -> bool:
    """Return whether a name, or a pattern, is that of a function; operators need no headers."""
    return (
        name.removesuffix("GetWorkspaceSize") in catalogue()
        or name in _functions()
        or bool(fnmatch.filter(_functions(), name))
    )


@functools.cache
def _functions() -> frozenset[str]:
    """Return the functions that headers declare, and both phases of every operator."""
    # Kernels are C++ of the user's own, which "ascendc" is for.
    headers = (path for path in writtendir().rglob("*.h") if path.parent.name != "ascendc")
    texts = (header.read_text(encoding="utf-8") for header in headers)
    declared = (name for text in texts for name in re.findall(r"\b([A-Za-z]\w+)\(", text))
    phases = (f"{name}{end}" for name in catalogue() for end in ("", "GetWorkspaceSize"))
    return frozenset((*declared, *functions(), *phases))
