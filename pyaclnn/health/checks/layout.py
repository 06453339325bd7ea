# SPDX-License-Identifier: Apache-2.0
"""Is the installation complete, readable, and all of one version?

Source: CANN: version.cfg and file list of 8.1; CANN: share/info of 9.1; CANN: installation guides.
"""

from __future__ import annotations

import functools
import platform
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, value, warn
from pyaclnn.health.checks.installation import find_installations, order_of
from pyaclnn.health.checks.nodes import admission

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site

__all__ = ["CHECKS"]

_ENOUGH_EVIDENCE: Final = 8


def _complete(site: Site) -> Finding:
    chosen, machine = site.installation, site.machine
    parts = {
        "operator packages": chosen.operator_root,
        "built-in operators": chosen.operator_root / "built-in",
        "chip descriptions": chosen.root / f"{platform.machine()}-linux/data/platform_config",
        "set_env.sh": chosen.set_env,
    }
    missing = [(name, path) for name, path in parts.items() if not path.exists()]
    if not missing:
        return ok("the usual parts of an installation are there")
    # What operators cannot do without, where it is known to be; the rest may move with a release.
    vital = set(parts) - {"chip descriptions", "set_env.sh"}
    say = fail if vital & {name for name, _ in missing} and not chosen.split else warn
    return say(
        f"the installation has no {missing[0][0]}",
        *(at_path(machine.shown(path), f"{name}: does not exist") for name, path in missing),
        causes=(
            "the installation was interrupted, or only part of it was installed or mounted",
            "only the runtime package was installed, not the toolkit",
        ),
        next_step="install the CANN toolkit again, with the operator package of the same version",
    )


def _readable(site: Site) -> Finding:
    chosen, machine = site.installation, site.machine
    libraries = (*chosen.libraries.runtime, chosen.libraries.base, *chosen.libraries.operators)
    built_in = chosen.operator_root / "built-in"
    wanted = [(path, "r") for path in libraries] + [(built_in, "rx")]
    refused = [path for path, how in wanted if path.exists() and not machine.may(path, how)]
    if not refused:
        return ok("this user may read all of it")
    group = machine.owner(refused[0]).rpartition(":")[2]
    return fail(
        f"this user may not read {machine.shown(refused[0])}",
        *(at_path(machine.shown(p), machine.owner(p)) for p in refused[:_ENOUGH_EVIDENCE]),
        value("uid", machine.uid),
        value("groups", ", ".join(sorted(machine.group(gid) for gid in machine.gids))),
        causes=(
            "CANN was installed by another user for that user's group only",
            f"it belongs to the group {group}, in which this user is not",
        ),
        next_step=admission(group, "CANN"),
    )


def _versions(site: Site) -> Finding:
    chosen, machine = site.installation, site.machine
    packages = chosen.packages
    if not packages:
        return warn(
            "the installation does not say its version",
            at_path(machine.shown(chosen.root / "version.cfg"), "not there, or not readable"),
            at_path(machine.shown(chosen.root / "share/info"), "no version.info below"),
            causes=("the installation is damaged, or was put together by hand",),
            next_step="install the CANN toolkit again",
        )
    common = Counter(package.version for package in packages).most_common(1)[0][0]
    runtime = next((p.version for p in packages if p.package == "runtime"), common)
    other = [package for package in packages if package.version != runtime]
    evidence = tuple(value(p.package, f"{p.version} ({p.source.name})") for p in packages)
    if not other:
        return ok(f"{len(packages)} packages, all of CANN {runtime}", *evidence)
    names = ", ".join(f"{package.package} {package.version}" for package in other)
    causes = (
        "the toolkit was updated and the operator package of the chip was not",
        "packages of two versions were installed into one folder",
    )
    step = f"install every package in version {runtime}, the operator package of the chip as well"
    say = fail if any(order_of(p.version)[:2] != order_of(runtime)[:2] for p in other) else warn
    return say(
        f"packages of different versions: runtime is {runtime}, but {names}",
        *evidence,
        causes=causes,
        next_step=step,
    )


def _single(site: Site) -> Finding:
    machine, chosen = site.machine, site.installation
    found = [*site.installations, *find_installations(machine, "cann")]
    places = {installation.real: installation for installation in found}
    others = [place for real, place in places.items() if real != chosen.real]
    if not others:
        return ok(f"one installation: {machine.shown(chosen.root)}")
    listed = tuple(
        at_path(machine.shown(place.root), f"CANN {place.version or 'of unknown version'}")
        for place in (chosen, *others)
    )
    usable = Path(machine.environment.get("ASCEND_HOME_PATH", "/nowhere")).resolve() == chosen.real
    if usable:
        return ok(f"{len(listed)} installations; the environment names one of them", *listed)
    return warn(
        f"{len(listed)} different CANNs are installed, and no variable says which to use",
        *listed,
        causes=("an old version was not removed when a new one was installed",),
        next_step=f"source {machine.shown(chosen.set_env)}, or that of the one you want",
    )


_check = functools.partial(Check, category="CANN")
CHECKS: Final = (
    _check(
        "CANN-002",
        "parts of the installation",
        "Looks for the parts that an application needs besides the libraries: operator packages, "
        "descriptions of the chips, set_env.sh.",
        _complete,
        hardware=True,
        needs=("CANN-001", "ENV-001"),
    ),
    _check(
        "CANN-003",
        "permission to read CANN",
        "CANN installs its files with mode 440 or 550 for the group of who installed it, unless "
        "--install-for-all was given. Others get 'permission denied', E20002 or 561107.",
        _readable,
        needs=("CANN-001",),
    ),
    _check(
        "CANN-004",
        "versions of the packages",
        "Reads version.cfg or share/info/*/version.info and holds every package's version against "
        "that of the runtime. Operators of another version fail with 561000, 561103 or worse.",
        _versions,
        hardware=True,
        needs=("CANN-001",),
    ),
    _check(
        "CANN-005",
        "number of installations",
        "Several versions may be installed side by side, if the environment says clearly which is "
        "meant.",
        _single,
        hardware=True,
        needs=("CANN-001",),
    ),
)
