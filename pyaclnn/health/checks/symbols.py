# SPDX-License-Identifier: Apache-2.0
"""Do the libraries have the functions that pyaclnn calls, and with the types it calls them with?"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.headers import no_header
from pyaclnn.cann.prototypes import differences, prototypes_in, read_prototypes
from pyaclnn.cann.signatures import signature, signatures
from pyaclnn.facts.operators import by_c_name
from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.dependencies import Closure
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, skip, value, warn
from pyaclnn.health.checks.installation import order_of
from pyaclnn.health.installed.comparison import SEVERITIES, compare_operators
from pyaclnn.health.report.record import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyaclnn.cann.prototypes import Prototype
    from pyaclnn.cann.signatures import OperatorHeaders, Signature
    from pyaclnn.health.checks.check_context import Site

__all__ = ["CHECKS", "core"]

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
    """Return the functions that the package calls whatever one does with it.

    Of the operators they are those without which a norm cannot be computed.
    """
    operators = [
        operator + suffix
        for operator, description in by_c_name().items()
        if description.essential
        for suffix in ("", "GetWorkspaceSize")
    ]
    return frozenset([*_BASE.split(), *_RUNTIME.split(), *operators])


_MOST_LISTED: Final = 40
_FOLDERS: Final = ("acl", "aclnn", "aclnnop")


def _exported(site: Site) -> Finding:
    libraries = site.installation.libraries
    runtime = site.installation.runtime
    files = {
        "runtime": [runtime] if runtime else [],
        "base": [libraries.base],
        "operators": list(libraries.operators),
    }
    exports = {group: _exports(site, paths) for group, paths in files.items()}
    absent = [s for s in signatures().values() if s.name not in exports[s.library]]
    missing = [signature for signature in absent if signature.name in core()]
    newer = [signature for signature in absent if signature.name not in core()]
    later = [_listed(newer)] if newer else []
    if not missing:
        count = len(signatures()) - len(absent)
        return ok(f"{count} functions, among them every one that is always needed", *later)
    first = missing[0]
    searched = files[first.library]
    version = site.installation.version
    new_enough = bool(version) and order_of(version or "")[:2] >= order_of(first.since)[:2]
    return fail(
        f"{first.name} is in none of the libraries"
        f"{f', nor are {len(missing) - 1} more' if len(missing) > 1 else ''}",
        *(
            Evidence("function", s.name, f"declared since CANN {s.since}, {s.header}")
            for s in missing[:_MOST_LISTED]
        ),
        *(
            at_path(site.machine.shown(path), "searched, with all that it needs")
            for path in searched
        ),
        *later,
        causes=(
            "a library was removed, or is of another version than the rest of this CANN",
            f"or the libraries are older than {first.since}, whatever the version files say",
        )
        if new_enough
        else (
            f"this CANN is older than {first.since}, which is the first known to have it",
            "the libraries are of another version than the rest of the installation",
        )
        if first.library != "operators"
        else (
            "the operator package is not installed completely",
            f"this CANN is older than {first.since}, which is the first known to have it",
        ),
        next_step=f"install CANN {version} again, the toolkit and the operator package"
        if new_enough
        else f"install CANN {first.since} or newer, with the operator package of the same version",
    )


def _exports(site: Site, paths: Iterable[Path]) -> frozenset[str]:
    closures = [site.closure(path) for path in paths]
    return frozenset().union(*(c.exports for c in closures if isinstance(c, Closure)))


def _listed(absent: list[Signature]) -> Evidence:
    names = [signature.name for signature in absent]
    shown = ", ".join(names[:_MOST_LISTED]) + (", …" if len(names) > _MOST_LISTED else "")
    versions = "/".join(sorted({signature.since for signature in absent}))
    return value(f"{len(names)} rarely used functions not here (CANN {versions})", shown)


def _declared(site: Site) -> Finding:
    folders = site.installation.include_directories()
    headers = [p for d in folders for part in _FOLDERS for p in sorted((d / part).rglob("*.h"))]
    operators = site.installation.operator_headers()
    if not headers and not operators.paths:
        return skip("the installation has no C headers to compare with")
    theirs = read_prototypes(headers, _declared_here())
    mine = _mine(frozenset(theirs))
    common = sorted(mine.keys() & theirs.keys())
    wrong = [(n, text) for n in common if (text := differences(mine[n], theirs[n])) is not None]
    strange = [(path, reason) for path in headers if (reason := no_header(path)) is not None]
    if strange and not wrong:
        more = f", nor can {len(strange) - 1} more" if len(strange) > 1 else ""
        return warn(
            f"{strange[0][0].name} cannot be compared: {strange[0][1]}{more}",
            *(at_path(site.machine.shown(path), why) for path, why in strange[:_MOST_LISTED]),
            causes=("the installation is incomplete or was damaged",),
            next_step="install the CANN toolkit again",
        )
    if not wrong:
        return _of_operators(site, operators, common)
    name, text = wrong[0]
    more = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
    return fail(
        f"{name} of this CANN {text}{more}",
        *(
            Evidence("function", n, f"installed: {theirs[n].text}\npyaclnn: {mine[n].text}")
            for n, _ in wrong[:_MOST_LISTED]
        ),
        at_path(site.machine.shown(theirs[name].source), f"{name}: {text}"),
        causes=(
            "this CANN is newer than this pyaclnn and has changed the function",
            "the headers are of another version than the libraries",
        ),
        next_step="update pyaclnn; until then do not call this function: its arguments would be "
        "misread",
    )


def _mine(names: frozenset[str]) -> Mapping[str, Prototype]:
    """What is declared here: in headers, and, of most operators, in a table."""
    # Imported on demand, as everywhere: the stubs lie beside the simulated NPU.
    from pyaclnn.cann.simulator import writtendir  # noqa: PLC0415

    own, known = writtendir(), [signatures()[name] for name in sorted(names)]
    table = "\n".join(s.declaration for s in known if s.library == "operators")
    return {
        **prototypes_in(table, own, names),
        **read_prototypes((own / header for header in {s.header for s in known}), names),
    }


@functools.cache
def _declared_here() -> frozenset[str]:
    return frozenset(signatures())


def _of_operators(site: Site, headers: OperatorHeaders, common: list[str]) -> Finding:
    """Compare every operator, also those whose headers lie beside their implementation."""
    there = {*common, *(n for n in headers.everything() if signature(n) is not None)}
    found = list(compare_operators(headers))
    wrong = [difference for difference in found if difference.severity == "ABI"]
    if not wrong:
        counts = {s: sum(d.severity == s for d in found) for s in SEVERITIES[1:]}
        told = [value(f"operators that are {s}", str(n)) for s, n in counts.items() if n]
        same = f"{len(there)} declarations are the same in the installed headers"
        return ok(same, *(told if headers.paths else ()))
    first = wrong[0]
    more = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
    return fail(
        f"{first.name} of this CANN {first.text}{more}",
        *(Evidence("function", d.name, f"{d.source}: {d.text}") for d in wrong[:_MOST_LISTED]),
        *(at_path(site.machine.shown(f), "headers of operators") for f in headers.folders),
        causes=(
            "this CANN is newer than this pyaclnn and has changed the operator",
            "the headers are of another version than the libraries",
        ),
        next_step="run 'pyaclnn abi' for all differences; do not call these operators by functions "
        "of pyaclnn.ops, but by pyaclnn.op, which goes by the headers of the installation",
    )


_check = functools.partial(Check, category="libraries")
CHECKS: Final = (
    _check(
        "SYM-001",
        "functions in the libraries",
        "Looks up every function that pyaclnn declares in the libraries of its group and in what "
        "they need. Missing ones that are always needed are a failure; others are listed, with the "
        "CANN that has them.",
        _exported,
        needs=("LIB-001",),
    ),
    _check(
        "SYM-002",
        "declarations in the headers",
        "Compares the types of each function with the C or C++ headers of the installation. A "
        "function with other arguments than expected reads garbage.",
        _declared,
        needs=("CANN-001",),
    ),
)
