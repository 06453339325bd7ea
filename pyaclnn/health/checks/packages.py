# SPDX-License-Identifier: Apache-2.0
"""Packages: operator packages, the kernels for the chip that is here, and those of Python.

Sources: CANN: opp/built-in and platform_config of 8.1; CANN: share/info of 9.1; CANN: opbase for
the order in which packages are searched; CANN: installation guides for the names of the packages
and for the Python dependencies; reports of users in whose environment they were missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.facts.chips import FAMILIES, find_family
from pyaclnn.facts.operators import by_c_name
from pyaclnn.health.checks.finding import Finding, found, more, ok, skip, value
from pyaclnn.health.checks.installation import KERNELS, order_of
from pyaclnn.health.installed import kernels as lists

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.report.record import Evidence

__all__ = ["kernel_folder"]


def kernels(context: CheckContext) -> list[Path]:
    """Return the folders of kernels, e.g. ``ascend910b``."""
    base = context.installation.operator_root / KERNELS
    try:
        return sorted(p for p in base.iterdir() if p.is_dir() and p.name.startswith("ascend"))
    except OSError:
        return []


def _installed(context: CheckContext) -> Finding:
    chosen = context.installation
    folders = ", ".join(folder.name for folder in kernels(context))
    named = [package.package for package in chosen.packages]
    packages = ", ".join(name for name in named if name.startswith(("opp_kernel", "ops_")))
    seen = (
        context.seen(chosen.operator_root / KERNELS, folders or "no kernels"),
        value("operator packages", packages or "none is listed"),
    )
    if folders:
        return ok(f"kernels for {folders}", *seen)
    if packages and chosen.split:
        return ok(f"operator packages {packages}", *seen)
    base = chosen.operator_root / KERNELS
    listed = (
        context.seen(base / path.name, "its kernels are listed in config, and not there")
        for path in sorted((base / "config").glob("ascend*"))
    )
    return found(
        "PKG-001.none", *seen, *listed, version=f", {chosen.version}" if chosen.version else ""
    )


_SPLIT_SINCE: Final = (8, 5)
_OLD_950: Final = "ascend910_95"
"""The folder of Ascend 950's kernels, for chips that still have their old name."""


def kernel_folder(soc_name: str) -> str | None:
    """Return the folder name of a chip's kernels, or None for an unknown chip."""
    if soc_name == "Ascend310":  # the only one of its kind
        return "ascend310"
    if soc_name.lower().startswith(_OLD_950):
        return _OLD_950
    family = find_family(soc_name)
    return None if family is None else f"ascend{family}"


def _package(context: CheckContext, folder: str) -> str:
    """Return the operator package of a folder of kernels, with the version of this CANN."""
    name, version = folder.removeprefix("ascend"), context.installation.version
    short = FAMILIES[name].package if name in FAMILIES else name
    package = f"Ascend-cann-{short}-ops"
    if version and order_of(version)[:2] < _SPLIT_SINCE:
        package = "Atlas-A3-cann-kernels" if short == "A3" else f"Ascend-cann-kernels-{short}"
    return f"{package} {version}" if version else package


def _known(context: CheckContext) -> Finding:
    chosen, soc = context.installation, context.facts.soc_name
    if not soc:
        return skip("the name of the chip is not known")
    folder = chosen.chip_folder
    if not folder.is_dir():
        return skip("the installation has no descriptions of chips")
    if (folder / f"{soc}.ini").exists():
        return ok(f"{soc} is known to this CANN", context.seen(folder, f"{soc}.ini"))
    known = ", ".join(sorted(path.stem for path in folder.glob("*.ini")))
    return found(
        "PKG-002.unknown",
        context.seen(folder, f"no {soc}.ini; known: {known or 'none'}"),
        version=f"{chosen.version} " if chosen.version else "",
        soc=soc,
    )


def _for_chip(context: CheckContext) -> Finding:
    soc = context.facts.soc_name
    if not soc:
        return skip("the name of the chip is not known")
    wanted = kernel_folder(soc)
    base = context.installation.operator_root / KERNELS
    folders = [folder.name for folder in kernels(context)]
    have = ", ".join(folders)
    if wanted is None:
        return skip(f"it is not known which operator package the chip {soc} needs")
    if not have:
        return skip("the kernels are not where CANN 8 has them")
    if wanted in folders:
        return _complete(context, wanted, context.seen(base, wanted))
    return found(
        "PKG-003.other_chip",
        context.seen(base, f"has {have}; {soc} needs {wanted}"),
        value("chip", soc),
        soc=soc,
        have=have,
        package=_package(context, wanted),
    )


def _complete(context: CheckContext, folder: str, place: Evidence) -> Finding:
    """Find the operators that phase 1 would refuse for want of a binary, by CANN's own lists."""
    soc = context.facts.soc_name
    listed = lists.kernels(context.installation.operator_root, folder)
    without = [
        (name, kernel.name, answer)
        for name in by_c_name()
        if (kernel := lists.kernel_of(name, listed)) is not None
        and (answer := lists.refusal(name, kernel)) is not None
    ]
    if not without:
        return ok(f"the kernels of {soc} are installed", place)
    operator, first, answer = without[0]
    return found(
        "PKG-003.incomplete",
        place,
        *(value(n, f"kernel {name}, no binary: {status}") for n, name, status in without),
        kernel=first,
        more=more(without, ", and {} more kernels"),
        soc=soc,
        operator=operator,
        answer=answer,
        package=_package(context, folder),
    )


_NEEDED: Final = ("numpy", "decorator", "sympy", "scipy", "attrs", "psutil", "cloudpickle")
"""Packages that CANN's operator compiler imports."""

_FEW: Final = 2
"""An environment that lacks more of the packages than this was never meant to compile operators."""

_USERS: Final = ("torch_npu", "mindspore", "te")
"""Packages that have CANN compile operators."""

_NOT_PREPARED: Final = "this Python is not one in which CANN compiles operators"
_NUMPY_2: Final = (2, 0)
_ACCEPTS_NUMPY_2: Final = (9, 0)


def _missing(context: CheckContext) -> list[str] | None:
    """Return the missing packages; None in an environment that was never made for them."""
    version_of = context.machine.package_version
    missing = [name for name in _NEEDED if version_of(name) is None]
    wanted = len(missing) <= _FEW or any(version_of(name) for name in _USERS)
    return missing if wanted else None


def _packages(context: CheckContext) -> Finding:
    missing = _missing(context)
    if missing is None:
        return skip(_NOT_PREPARED)
    versions = {name: context.machine.package_version(name) for name in _NEEDED}
    seen = tuple(value(name, version or "not installed") for name, version in versions.items())
    if not missing:
        return ok("the Python packages that CANN's operator compiler needs are installed", *seen)
    return found("PY-001.missing", *seen, names=", ".join(missing), arguments=" ".join(missing))


def _numpy(context: CheckContext) -> Finding:
    if _missing(context) is None:
        return skip(_NOT_PREPARED)
    numpy, cann = context.machine.package_version("numpy"), context.installation.version
    if numpy is None or cann is None:
        return skip("the version of NumPy or of CANN is not known")
    if order_of(numpy)[:2] >= _NUMPY_2 and order_of(cann)[:2] < _ACCEPTS_NUMPY_2:
        seen = value("numpy", numpy), value("CANN", cann)
        return found("PY-002.new", *seen, numpy=numpy, cann=cann)
    return ok(f"NumPy {numpy} is one that CANN {cann} can work with")
