# SPDX-License-Identifier: Apache-2.0
"""Are the libraries there, usable, the real ones, and do they find what they need?

Nothing is loaded: the files are read as the dynamic loader would read them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.dependencies import Closure, search_path
from pyaclnn.health.checks.driver import driver_root
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, value
from pyaclnn.health.report.record import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.checks.dependencies import Missing

__all__ = ["CHECKS"]

_STUB_FOLDERS: Final = frozenset({"devlib", "stub"})
_DRIVER: Final = frozenset({"libascend_hal.so", "libdcmi.so", "libdrvdsmi_host.so"})
_MOST_PATHS: Final = 20
_MOST_LISTED: Final = 3


def _present(site: Site) -> Finding:
    machine, libraries = site.machine, site.installation.libraries
    groups = {
        "the runtime (libascendcl.so or libacl_rt.so)": libraries.runtime,
        "the operators' base (libnnopbase.so)": (libraries.base,),
        "the operators (libopapi.so or libopapi_nn.so)": libraries.operators,
    }
    for name, paths in groups.items():
        if not any(path.exists() for path in paths):
            searched = paths or (
                libraries.directory / "libopapi.so",
                libraries.directory / "libopapi_nn.so",
            )
            return fail(
                f"{name} is missing",
                *(at_path(machine.shown(path), _absence(path)) for path in searched),
                causes=(
                    "the operator package of the chip is not installed (since CANN 8.5 it has "
                    "these libraries)"
                    if paths == libraries.operators
                    else "the installation is incomplete or was damaged",
                    "the folder is only partly mounted into the container",
                ),
                next_step="install the CANN toolkit and the operator package again",
            )
    existing = [path for paths in groups.values() for path in paths if path.exists()]
    for path in existing:
        closure = site.closure(path)
        if not isinstance(closure, Closure):
            return fail(
                f"{path.name} is unusable: {closure}",
                at_path(machine.shown(path), closure),
                causes=(
                    "a copy or an installation was interrupted, e.g. by a full disk",
                    "the package is for another processor",
                ),
                next_step="install the CANN package for this processor again",
            )
    return ok(
        f"{len(existing)} libraries", *(at_path(machine.shown(p), "usable") for p in existing)
    )


def _absence(path: Path) -> str:
    return "a link that leads nowhere" if path.is_symlink() else "no such file"


def _needed(site: Site) -> Finding:
    missing: dict[str, Missing] = {}
    found: dict[str, Path] = {}
    for path in _existing(site):
        closure = site.closure(path)
        if isinstance(closure, Closure):
            missing.update({gap.name: gap for gap in closure.missing})
            found.update({library.path.name: library.path for library in closure.libraries})
    if not missing:
        return ok(f"every one of {len(found)} libraries finds what it needs")
    return _report_missing(site, list(missing.values()))


def _report_missing(site: Site, gaps: list[Missing]) -> Finding:
    machine = site.machine
    first = next((gap for gap in gaps if gap.name in _DRIVER), gaps[0])
    others = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
    tried = "\n".join(f"{machine.shown(p)}: {why}" for p, why in first.tried[:_MOST_PATHS])
    evidence = (
        value("wanted by", machine.shown(first.wanted_by)),
        Evidence("path", first.name, f"every path tried:\n{tried}"),
        *(value("missing as well", gap.name) for gap in gaps if gap is not first),
    )
    folder = driver_root(machine) / "lib64"
    if first.name not in _DRIVER:
        return fail(
            f"{first.name}{others} cannot be found; {first.wanted_by.name} needs it",
            *evidence,
            causes=(
                "LD_LIBRARY_PATH lacks a folder of CANN: set_env.sh was not sourced",
                "the installation is incomplete",
            ),
            next_step=f"source {machine.shown(site.installation.set_env)}",
        )
    if (folder / "driver" / first.name).exists():
        lib = machine.shown(folder)
        return fail(
            f"{first.name}{others}, the driver's library, is installed but not found",
            *evidence,
            causes=(
                (
                    "LD_LIBRARY_PATH lacks the driver's folders, and the loader's configuration "
                    "(/etc/ld.so.conf.d/ascend_driver_so.conf) does not name them"
                ),
            ),
            next_step=f"export LD_LIBRARY_PATH={lib}/driver:{lib}/common:$LD_LIBRARY_PATH",
        )
    inside = machine.in_container
    return fail(
        f"{first.name}{others}, the driver's library, does not exist here",
        *evidence,
        causes=("the driver's folder is not mounted into the container",)
        if inside
        else ("the driver is not installed on this machine",),
        next_step="start the container with -v /usr/local/Ascend/driver/lib64:"
        "/usr/local/Ascend/driver/lib64"
        if inside
        else "install the driver package (HDK) for this chip",
    )


def _existing(site: Site) -> list[Path]:
    libraries = site.installation.libraries
    runtime = [path for path in libraries.runtime if path.exists()][:1]
    return [*runtime, *(p for p in (libraries.base, *libraries.operators) if p.exists())]


def _stubs(site: Site) -> Finding:
    machine = site.machine
    loaded = [
        library.path
        for path in _existing(site)
        for closure in [site.closure(path)]
        if isinstance(closure, Closure)
        for library in closure.libraries
    ]
    stubs = [path for path in dict.fromkeys(loaded) if _is_stub(path)]
    folders = search_path(machine)
    names = {path.name for path in site.installation.libraries.runtime} | _DRIVER
    for name in sorted(names):
        first = next((folder / name for folder in folders if (folder / name).exists()), None)
        if first is not None and _is_stub(first):
            stubs.append(first)
    stubs = list(dict.fromkeys(stubs))
    if not stubs:
        return ok("no stand-in for linking is picked up")
    return fail(
        f"{stubs[0].name} would be loaded from {machine.shown(stubs[0].parent)}: a stand-in for "
        "linking, in which every call fails",
        *(at_path(machine.shown(path), "a stub library") for path in stubs),
        causes=(
            "LD_LIBRARY_PATH has the stubs' folder in front of the real libraries",
            "set_env.sh found no driver on this machine and fell back to the stubs",
        ),
        next_step="take devlib and stub folders out of LD_LIBRARY_PATH; install or mount the "
        "driver if its libraries are missing",
    )


def _is_stub(path: Path) -> bool:
    return bool(_STUB_FOLDERS & {*path.parent.parts[-2:], *path.resolve().parent.parts[-2:]})


_check = functools.partial(Check, category="libraries")
CHECKS: Final = (
    _check(
        "LIB-001",
        "libraries of CANN",
        "The runtime, the operators' base and the operators must be there and be libraries of this "
        "processor. Which file they are in changed with CANN 8.5.",
        _present,
        needs=("CANN-001", "CANN-003"),
    ),
    _check(
        "LIB-002",
        "stub libraries",
        "CANN ships stand-ins for linking on machines without a driver (devlib, stub). Programs "
        "start with them, and then every call fails.",
        _stubs,
        needs=("LIB-001",),
    ),
    _check(
        "LIB-003",
        "their dependencies",
        "Follows what each library needs through LD_LIBRARY_PATH, run paths and the loader's "
        "configuration, and names what cannot be found, with every path tried.",
        _needed,
        needs=("LIB-001",),
    ),
)
