# SPDX-License-Identifier: Apache-2.0
"""Are there operator packages at all?

Sources: CANN: opp/built-in of 8.1; CANN: share/info of 9.1; CANN: opbase for the order in which
packages are searched.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, value

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.check_context import Site

__all__ = ["CHECKS", "KERNELS", "kernels"]

KERNELS: Final = "built-in/op_impl/ai_core/tbe/kernel"
"""Where an operator package has its kernels, a folder for each kind of chip."""


def kernels(site: Site) -> list[Path]:
    """Return the folders of kernels, e.g. ``ascend910b``."""
    base = site.installation.operator_root / KERNELS
    try:
        return sorted(p for p in base.iterdir() if p.is_dir() and p.name.startswith("ascend"))
    except OSError:
        return []


def _installed(site: Site) -> Finding:
    machine, chosen = site.machine, site.installation
    folders = kernels(site)
    named = [package.package for package in chosen.packages]
    ops = [name for name in named if name.startswith(("opp_kernel", "ops_"))]
    seen = (
        at_path(
            machine.shown(chosen.operator_root / KERNELS),
            ", ".join(folder.name for folder in folders) or "no kernels",
        ),
        value("operator packages", ", ".join(ops) or "none is listed"),
    )
    if folders:
        return ok(f"kernels for {', '.join(folder.name for folder in folders)}", *seen)
    if ops and chosen.split:
        return ok(f"operator packages {', '.join(ops)}", *seen)
    return fail(
        "no operator package is installed: there is no kernel for any chip",
        *seen,
        causes=(
            (
                "only the toolkit was installed; the kernels are a package of their own, one for "
                "each chip"
            ),
            "updating the toolkit removed the operator package (since 8.5)",
            "ASCEND_OPP_PATH leads to a folder without built-in operators",
        ),
        next_step="install the operator package of your chip in the version of the toolkit"
        f"{f', {chosen.version}' if chosen.version else ''}",
    )


_check = functools.partial(Check, category="operators", hardware=True)
CHECKS: Final = (
    _check(
        "PKG-001",
        "operator packages",
        "The kernels of the operators are a package of their own (Ascend-cann-kernels-… up to 8.3, "
        "Ascend-cann-…-ops since 8.5). Without it phase 1 of an operator fails with 561112, and "
        "with 561003 if the operator is generated from its kernel.",
        _installed,
        needs=("CANN-001", "CANN-003"),
    ),
)
