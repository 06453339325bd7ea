# SPDX-License-Identifier: Apache-2.0
"""Launch stub: the C++ program around a kernel's source, which it includes unchanged."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyaclnn.ascendc.entries import KernelEntry, KernelParameter

__all__ = ["launch_stub"]

_FIELD = re.compile(r"[A-Za-z_]\w*")
_TYPE = re.compile(r"[A-Za-z_][\w:<>, ]*")


def launch_stub(
    source: Path, entries: Sequence[KernelEntry], tiling_data: Mapping[str, str] | None
) -> str:
    """Write the program that runs the kernels of a source file.

    Args:
        source: The file to include.
        entries: Its kernels.
        tiling_data: The structure that ``GET_TILING_DATA`` gives: C++ types by field name, in
            order; None if the source defines it, or needs none.

    Raises:
        ValueError: A field or its type is no C++ name.
    """
    return "\n".join(_lines(source, entries, tiling_data)) + "\n"


def _lines(
    source: Path, entries: Sequence[KernelEntry], tiling_data: Mapping[str, str] | None
) -> Iterator[str]:
    yield '#include "ascendc/launcher.h"'
    if tiling_data is not None:
        yield '#include "ascendc/tiling_data.h"'
        yield "struct GeneratedTilingData {"
        yield from (_field(name, kind) for name, kind in tiling_data.items())
        yield "};"
        yield "REGISTER_TILING_DEFAULT(GeneratedTilingData);"
    yield f"#include {json.dumps(str(source), ensure_ascii=False)}"
    for number, entry in enumerate(entries):
        passed = ", ".join(_pass(index, p) for index, p in enumerate(entry.parameters))
        yield f"static void launch{number}(void *const *arguments)"
        yield f"{{ static_cast<void>(arguments); {entry.name}({passed}); }}"
    yield "static const AscendC::emulation::Entry entries[] = {"
    yield from (f'    {{"{entry.name}", launch{n}}},' for n, entry in enumerate(entries))
    yield "};"
    yield "int main(int count, char **words)"
    yield f"{{ return AscendC::emulation::Main(count, words, entries, {len(entries)}); }}"


def _field(name: str, kind: str) -> str:
    if not _FIELD.fullmatch(name) or not _TYPE.fullmatch(kind):
        raise ValueError(
            f"tiling_data has the field {name!r} of type {kind!r}; both must be C++ names, such as "
            "'layerNormTiling' of type 'LayerNormTiling'"
        )
    return f"    {kind} {name};"


def _pass(index: int, parameter: KernelParameter) -> str:
    if parameter.structure:
        return (
            f'AscendC::emulation::Passed<{parameter.type}>("{parameter.name}", arguments[{index}])'
        )
    if parameter.scalar is None:
        return f"({parameter.type})arguments[{index}]"
    return f"*static_cast<const std::remove_const_t<{parameter.type}> *>(arguments[{index}])"
