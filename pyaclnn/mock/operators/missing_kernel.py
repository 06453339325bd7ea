# SPDX-License-Identifier: Apache-2.0
"""Answer to a call whose operator has no kernel that computes it."""

from __future__ import annotations

from keyword import iskeyword

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.kernel_files import VARIABLE

__all__ = ["kernel_missing"]


def kernel_missing(name: str, why: str = "") -> str:
    """Return the text of the answer 999001, with the ways to add a kernel.

    Args:
        name: The C name of the operator.
        why: Why its own kernel does not serve; empty if it has none.
    """
    return (
        f"EZ9999: the simulated NPU has {name}, but no kernel for it{why and f': {why}'}. "
        f"Give it one: a file that {VARIABLE} names, with\n"
        f"{_example(name)}\n"
        "or a package of pyaclnn.ascendc.package.build_package, in a folder that "
        "ASCEND_CUSTOM_OPP_PATH names."
    )


def _example(name: str) -> str:
    """Return the outline of a kernel, with the parameters and results of its operator."""
    listed = catalogue()[name].parameters if name in catalogue() else ()
    read = [f"{p.name}_" if iskeyword(p.name) else p.name for p in listed if p.read]
    written = ", ".join(p.name for p in listed if p.written)
    return f"""\
    import numpy as np, pyaclnn.mock
    @pyaclnn.mock.operator("{name}")
    def kernel({", ".join(read)}):  # arrays of NumPy; leave out what is not needed
        ...
        return {written or "..."}"""
