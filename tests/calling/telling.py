# SPDX-License-Identifier: Apache-2.0
"""Libraries with the functions of any operators, which write down every argument they receive.

Each operator is compiled with the C signature it has, so that what it reads is what a function of
that signature finds in registers and on the stack. The runtime is that of the simulated NPU.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.cann.simulator import simulator
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock import libdir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyaclnn.facts.operators.catalogue import Entry

__all__ = ["FOUND", "build"]

HERE = Path(__file__).parent
FOUND = 2
"""The length of the first axis that aclnnNonzero finds."""
_FLAGS = ["-std=c11", "-shared", "-fPIC", "-O1"]


def build(folder: Path, names: Iterable[str]) -> Path:
    """Build the libraries of some operators.

    Args:
        folder: Where to.
        names: Their C names.

    Returns:
        The folder, good for ``select_backend``.
    """
    shutil.copy(simulator(), folder)
    shutil.copy(libdir() / "libascendcl.so", folder)
    # By this file a library that is not where it was installed finds its interpreter.
    (folder / "device-python").write_text(sys.executable, encoding="utf-8")
    _compile(folder / "libnnopbase.so", HERE / "telling_base.c")
    source = folder / "operators.c"
    lines = (line for name in names for line in _operator(catalogue()[name]))
    source.write_text("\n".join(['#include "telling_operators.h"', *lines]), encoding="utf-8")
    _compile(folder / "libopapi.so", source)
    return folder


def _operator(entry: Entry) -> Iterator[str]:
    declared = ", ".join(f"{p.c_type} {p.name}_" for p in entry.parameters)
    last = next((p.name for p in reversed(entry.parameters) if p.kind == "t" and p.written), None)
    yield f"aclnnStatus {entry.name}GetWorkspaceSize({declared}, uint64_t *size, aclOpExecutor **e)"
    yield "{"
    yield "    length = 0;"
    yield from (f"    tell_{p.kind}({p.name}_);" for p in entry.parameters)
    yield f"    return told({f'{last}_' if last else 'NULL'}, size, e);"
    yield "}"
    yield f"aclnnStatus {entry.name}(void *w, uint64_t size, aclOpExecutor *e, aclrtStream stream)"
    yield "{"
    yield "    (void)w, (void)size, (void)stream;"
    if entry.name == "aclnnNonzero":
        yield f"    e->dims[0] = {FOUND};"
    yield "    return e == NULL;"
    yield "}"


def _compile(output: Path, source: Path) -> None:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, *_FLAGS, f"-I{HERE}", "-o", str(output), str(source)]
    subprocess.run(command, check=True)
