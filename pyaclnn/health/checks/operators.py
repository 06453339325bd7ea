# SPDX-License-Identifier: Apache-2.0
"""Operator packages: whether kernels are installed at all.

Sources: CANN: opp/built-in of 8.1; CANN: share/info of 9.1; CANN: opbase for the order in which
packages are searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.finding import Finding, found, ok, value

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.check import Look
    from pyaclnn.health.checks.check_context import CheckContext

__all__ = ["KERNELS", "LOOKS", "kernels"]

KERNELS: Final = "built-in/op_impl/ai_core/tbe/kernel"
"""The folder of an operator package's kernels, with a folder for each kind of chip."""


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
    return found("PKG-001.none", *seen, version=f", {chosen.version}" if chosen.version else "")


LOOKS: Final[dict[str, Look]] = {"PKG-001": _installed}
