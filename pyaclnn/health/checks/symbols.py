# SPDX-License-Identifier: Apache-2.0
"""Functions that pyaclnn calls: presence in the libraries, and types in the headers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.headers import no_header
from pyaclnn.cann.signatures import signature, signatures
from pyaclnn.facts.operators import by_c_name
from pyaclnn.health.checks.dependencies import Closure
from pyaclnn.health.checks.finding import Finding, found, more, ok, skip, value
from pyaclnn.health.checks.installation import order_of
from pyaclnn.health.installed.comparison import SEVERITIES, compare_operators, compare_runtime
from pyaclnn.health.report.record import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyaclnn.cann.signatures import OperatorHeaders, Signature
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.installed.comparison import Difference

__all__ = ["core"]

_BASE: Final = """
aclCreateBoolArray aclCreateIntArray aclCreateTensor aclDestroyAclOpExecutor aclDestroyBoolArray
aclDestroyIntArray aclDestroyTensor
"""
_RUNTIME: Final = """
aclFinalize aclGetCannAttribute aclGetRecentErrMsg aclInit aclrtCreateEventExWithFlag
aclrtCreateStream aclrtDestroyEvent aclrtDestroyStream aclrtEventElapsedTime aclrtFree
aclrtFreeHost aclrtGetCurrentContext aclrtGetDevice aclrtGetDeviceCount aclrtGetMemInfo
aclrtGetSocName aclrtMalloc aclrtMallocHost aclrtMemcpy aclrtMemcpyAsync aclrtMemset
aclrtMemsetAsync aclrtPeekAtLastError aclrtQueryEventStatus aclrtRecordEvent aclrtResetDevice
aclrtSetCurrentContext aclrtSetDevice aclrtStreamQuery aclrtStreamWaitEvent aclrtSynchronizeDevice
aclrtSynchronizeDeviceWithTimeout aclrtSynchronizeEvent aclrtSynchronizeEventWithTimeout
aclrtSynchronizeStream aclrtSynchronizeStreamWithTimeout
"""


@functools.cache
def core() -> frozenset[str]:
    """Return the functions that every use of the package calls.

    They include the functions of operators without which a norm cannot be computed.
    """
    operators = [
        operator + suffix
        for operator, description in by_c_name().items()
        if description.essential
        for suffix in ("", "GetWorkspaceSize")
    ]
    return frozenset([*_BASE.split(), *_RUNTIME.split(), *operators])


_MOST_LISTED: Final = 40
_FOLDERS: Final = ("acl", "aclnn")
_OF_OPERATORS: Final = "aclnnop"


def _exported(context: CheckContext) -> Finding:
    chosen = context.installation
    files = {
        "runtime": [chosen.runtime] if chosen.runtime else [],
        "base": [chosen.libraries.base],
        "operators": list(chosen.libraries.operators),
    }
    exports = {group: _exports(context, paths) for group, paths in files.items()}
    absent = [s for s in signatures().values() if s.name not in exports[s.library]]
    missing = [signature for signature in absent if signature.name in core()]
    newer = [signature for signature in absent if signature.name not in core()]
    later = [_listed(newer)] if newer else []
    if not missing:
        count = len(signatures()) - len(absent)
        return ok(f"{count} functions, among them every one that is always needed", *later)
    first, version = missing[0], chosen.version
    if version and order_of(version)[:2] >= order_of(first.since)[:2]:
        outcome = "SYM-001.damaged"
    else:
        outcome = "SYM-001.no_operators" if first.library == "operators" else "SYM-001.old"
    return found(
        outcome,
        *(
            Evidence("function", s.name, f"declared since CANN {s.since}, {s.header}")
            for s in missing[:_MOST_LISTED]
        ),
        *(context.seen(path, "searched, with all that it needs") for path in files[first.library]),
        *later,
        function=first.name,
        more=more(missing, ", nor are {} more"),
        since=first.since,
        version=version,
    )


def _exports(context: CheckContext, paths: Iterable[Path]) -> frozenset[str]:
    closures = [context.closure(path) for path in paths]
    return frozenset().union(*(c.exports for c in closures if isinstance(c, Closure)))


def _listed(absent: list[Signature]) -> Evidence:
    names = [signature.name for signature in absent]
    shown = ", ".join(names[:_MOST_LISTED]) + (", …" if len(names) > _MOST_LISTED else "")
    versions = "/".join(sorted({signature.since for signature in absent}))
    return value(f"{len(names)} rarely used functions not here (CANN {versions})", shown)


def _declared(context: CheckContext) -> Finding:
    folders = context.installation.include_directories()
    found_in = {
        part: [path for folder in folders for path in sorted((folder / part).rglob("*.h"))]
        for part in (*_FOLDERS, _OF_OPERATORS)
    }
    headers = [path for part in _FOLDERS for path in found_in[part]]
    operators = context.installation.operator_headers()
    if not headers and not operators.paths:
        return skip("the installation has no C headers to compare with")
    differing, count = compare_runtime(headers)
    if differing:
        return _differ("SYM-002.function", differing)
    every = (*headers, *found_in[_OF_OPERATORS])
    strange = [(path, reason) for path in every if (reason := no_header(path)) is not None]
    for path, reason in strange:
        seen = (context.seen(path, reason) for path, reason in strange[:_MOST_LISTED])
        rest = more(strange, ", nor can {} more")
        return found("SYM-002.no_header", *seen, header=path.name, reason=reason, more=rest)
    return _of_operators(context, operators, count)


def _differ(outcome: str, wrong: list[Difference], *seen: Evidence) -> Finding:
    return found(
        outcome,
        *(Evidence("function", d.name, f"{d.source}: {d.text}") for d in wrong[:_MOST_LISTED]),
        *seen,
        function=wrong[0].name,
        difference=wrong[0].text,
        more=more(wrong, ", and {} more differ"),
    )


def _of_operators(context: CheckContext, headers: OperatorHeaders, count: int) -> Finding:
    """Compare every operator, also those whose headers lie beside their implementation."""
    differing = list(compare_operators(headers))
    wrong = [difference for difference in differing if difference.severity == "ABI"]
    if wrong:
        seen = (context.seen(folder, "headers of operators") for folder in headers.folders)
        return _differ("SYM-002.operator", wrong, *seen)
    count += sum(signature(name) is not None for name in headers.everything())
    counts = {s: sum(d.severity == s for d in differing) for s in SEVERITIES[1:]}
    listed = [value(f"operators that are {s}", str(n)) for s, n in counts.items() if n]
    same = f"{count} declarations are the same in the installed headers"
    return ok(same, *(listed if headers.paths else ()))
