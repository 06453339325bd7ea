# SPDX-License-Identifier: Apache-2.0
"""Generator of the C sources of the mock libraries that follow from declarations and data.

A fallback for every runtime and base function that is not written by hand; the table of
simulated chips; the description of a simulated release.
"""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Final

from .declarations import GENERATED
from .mock_gates import NOTHING, REFUSALS, STATUS, exported

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .declarations import Declarations, Release

__all__ = ["write_chips", "write_fallbacks", "write_release"]

_PINNED: Final = "take pinned memory by aclrtMallocHost, and copy from and to it"
_AGAIN: Final = "capture the work again, with what has changed"
_INSTEAD: Final = {
    "acl/rt/kernel.h": "only a chip runs the binary of a kernel. Call an operator, to which "
    "pyaclnn.mock.operator gives a NumPy function; or run the kernel's source on the host, by "
    "pyaclnn.ascendc.compile",
    "acl/rt/random.h": "which numbers a chip draws is not known. Call aclnnInplaceUniform, "
    "aclnnInplaceNormal or aclnnDropoutGenMask, to which pyaclnn.mock.operator gives a NumPy "
    "function, or copy numbers from the host",
    "HcclCommInitClusterInfo": "give the ranks a root info, by HcclGetRootInfo and "
    "HcclCommInitRootInfo, or make them in one process, by HcclCommInitAll",
    "HcclCommInitClusterInfoConfig": "give the ranks a root info, by HcclGetRootInfo and "
    "HcclCommInitRootInfoConfig",
    "aclopCompileAndExecute": "call the operator's function, aclnn and its name",
    "aclrtHostRegister": _PINNED,
    "aclrtHostRegisterV2": _PINNED,
    "aclmdlRICaptureTaskGrpBegin": _AGAIN,
    "aclmdlRICaptureTaskUpdateBegin": _AGAIN,
}
"""A function, or a header that has several -> the alternative to what is refused."""


def write_fallbacks(declarations: Declarations, library: str, release: str, output: Path) -> None:
    """Write a weak definition of every function that a release's library exports.

    A hand-written definition overrides the weak one when the library is linked. What is left
    answers with a code of the mock's own and a text, never with success.
    """
    output.write_text(
        "\n".join(_fallbacks(declarations, library, release)) + "\n", encoding="utf-8"
    )


def _fallbacks(declarations: Declarations, library: str, release: str) -> Iterator[str]:
    yield GENERATED
    yield from (f'#include "{header}"' for header in declarations.headers)
    yield '#include "error_message.h"'
    for function in exported(declarations.functions, library, release):
        yield f'\n__attribute__((weak, section("{REFUSALS}")))'
        yield f"{function.signature(function.name)}\n{{"
        yield from (f"    (void)({p.name});" for p in function.parameters)
        instead = _INSTEAD.get(function.name, _INSTEAD.get(function.header))
        result = f'mock_unimplemented("{function.name}")'
        if instead is not None:
            result = f'mock_unimplemented_but("{function.name}", "{instead}")'
        if function.returns in STATUS:
            yield f"    return ({function.returns}){result};\n}}"
        else:
            yield f"    {result};"
            nothing = NOTHING.get(function.returns, "0")
            yield "}" if function.returns == "void" else f"    return {nothing};\n}}"


def write_release(release: Release, output: Path) -> None:
    """Write the description of a release as a C initialiser."""
    major, minor, rest = release.version.split(".")
    texts = ", ".join(f'"{text}"' for text in (release.name, release.version, major, minor, rest))
    interface = ", ".join(map(str, release.interface))
    output.write_text(
        f"{GENERATED}\n{texts}, {{{interface}}}, {release.headers}\n", encoding="utf-8"
    )


def write_chips(chips: Path, output: Path) -> None:
    """Write the table of simulated chips as C initialisers, the one by default first.

    Args:
        chips: The module that reads the table; the package cannot be imported yet.
        output: The file to write.
    """
    known = runpy.run_path(str(chips), run_name="chips")
    rows = sorted(known["all_chips"](), key=lambda chip: chip.soc_name != known["DEFAULT_SOC_NAME"])
    lines = [GENERATED]
    for chip in rows:
        names = f'"{chip.soc_name}", "{chip.family}", {str(chip.bfloat16).lower()}'
        numbers = (chip.memory_bytes, chip.ai_cores, chip.vector_cores, chip.streams, chip.events)
        lines.append(f"{{{names}, {', '.join(map(str, numbers))}, {chip.l2_bytes}}},")
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
