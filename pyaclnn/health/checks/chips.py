# SPDX-License-Identifier: Apache-2.0
"""Does this CANN know the chip, and are the installed kernels for it?

Sources: CANN: platform_config; CANN: opp/built-in of 8.1; CANN: installation guides for the names
of the packages.
"""

from __future__ import annotations

import functools
import platform
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.chips import FAMILIES, find_family
from pyaclnn.facts.operators import by_c_name
from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, skip, value, warn
from pyaclnn.health.checks.installation import order_of
from pyaclnn.health.checks.operators import KERNELS, kernels
from pyaclnn.health.checks.options import Level
from pyaclnn.health.installed import kernels as lists

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.report.record import Evidence

__all__ = ["CHECKS", "kernel_folder"]

_SPLIT_SINCE: Final = (8, 5)
_FORMERLY: Final = "ascend910_95"
"""What the folder of Ascend 950's kernels is called for chips that still have their old name."""


def kernel_folder(soc_name: str) -> str | None:
    """Return the folder name of a chip's kernels, or None for an unknown chip."""
    if soc_name == "Ascend310":  # the only one of its kind
        return "ascend310"
    if soc_name.lower().startswith(_FORMERLY):
        return _FORMERLY
    family = find_family(soc_name)
    return None if family is None else f"ascend{family}"


def _package_name(site: Site, folder: str) -> str:
    name = folder.removeprefix("ascend")
    short = FAMILIES[name].package if name in FAMILIES else name
    version = site.installation.version
    if version and order_of(version)[:2] < _SPLIT_SINCE:
        return "Atlas-A3-cann-kernels" if short == "A3" else f"Ascend-cann-kernels-{short}"
    return f"Ascend-cann-{short}-ops"


def _known(site: Site) -> Finding:
    machine, chosen, soc = site.machine, site.installation, site.facts.soc_name
    if not soc:
        return skip("the name of the chip is not known")
    folder = chosen.root / f"{platform.machine()}-linux/data/platform_config"
    if not folder.is_dir():
        return skip("the installation has no descriptions of chips")
    if (folder / f"{soc}.ini").exists():
        return ok(f"{soc} is known to this CANN", at_path(machine.shown(folder), f"{soc}.ini"))
    known = sorted(path.stem for path in folder.glob("*.ini"))
    return fail(
        f"this CANN {chosen.version or ''} does not know the chip {soc}".replace("  ", " "),
        at_path(machine.shown(folder), f"no {soc}.ini; known: {', '.join(known) or 'none'}"),
        causes=("the chip is newer than this CANN",),
        next_step="install a CANN that names this chip in its release notes",
    )


def _for_chip(site: Site) -> Finding:
    machine, soc = site.machine, site.facts.soc_name
    if not soc:
        return skip("the name of the chip is not known")
    wanted = kernel_folder(soc)
    base = site.installation.operator_root / KERNELS
    have = [folder.name for folder in kernels(site)]
    if wanted is None:
        return skip(f"it is not known which operator package the chip {soc} needs")
    if not have:
        return skip("the kernels are not where CANN 8 has them")
    if wanted in have:
        return _complete(site, wanted, at_path(machine.shown(base), wanted))
    return fail(
        f"the operator package is for another chip: the device is {soc}, but the kernels are for "
        f"{', '.join(have)}",
        at_path(machine.shown(base), f"has {', '.join(have)}; {soc} needs {wanted}"),
        value("chip", soc),
        causes=(
            "the operator package of another chip was installed",
            "the container image was made for another chip",
        ),
        next_step=f"install {_package_name(site, wanted)}"
        f"{f' {site.installation.version}' if site.installation.version else ''} in place of it",
    )


def _complete(site: Site, folder: str, place: Evidence) -> Finding:
    """Say which operators phase 1 would refuse for want of a binary, by CANN's own lists."""
    soc = site.facts.soc_name
    listed = lists.kernels(site.installation.operator_root, folder)
    without = [
        (name, kernel.name, answer)
        for name in by_c_name()
        if (kernel := lists.kernel_of(name, listed)) is not None
        and (answer := lists.refusal(name, kernel)) is not None
    ]
    if not without:
        return ok(f"the kernels of {soc} are installed", place)
    more = f", and {len(without) - 1} more kernels" if len(without) > 1 else ""
    name, first, answer = without[0]
    return warn(
        f"{first}{more} of {soc} is listed and has no binary: {name} answers {answer}",
        place,
        *(value(n, f"kernel {kernel}, no binary: {status}") for n, kernel, status in without),
        causes=("the operator package was not installed completely", "it is of another version"),
        next_step=f"install {_package_name(site, folder)}"
        f"{f' {site.installation.version}' if site.installation.version else ''} again",
    )


_check = functools.partial(Check, category="operators", level=Level.MEDIUM, hardware=True)
CHECKS: Final = (
    _check(
        "PKG-002",
        "description of the chip",
        "CANN describes every chip it supports in data/platform_config; a chip without such a file "
        "is newer than this CANN.",
        _known,
        needs=("CANN-001", "DEV-102"),
    ),
    _check(
        "PKG-003",
        "operator package of this chip",
        "Compares the chip's name with the folders of kernels, and CANN's lists of kernels with "
        "those of their binaries. Without the binary phase 1 of an operator fails with 561003; "
        "without any, or with the package of another chip, so does an operator that is generated "
        "from its kernel, and any other one fails with 561112.",
        _for_chip,
        needs=("PKG-001", "DEV-102"),
    ),
)
