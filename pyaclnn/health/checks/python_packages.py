# SPDX-License-Identifier: Apache-2.0
"""The Python packages that CANN itself needs, to compile operators at run time.

Source: CANN: installation guide, Python dependencies; reports of users in whose environment they
were missing.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, ok, skip, value, warn
from pyaclnn.health.checks.installation import order_of

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site

__all__ = ["CHECKS", "NEEDED"]

NEEDED: Final = ("numpy", "decorator", "sympy", "scipy", "attrs", "psutil", "cloudpickle")
"""What CANN's operator compiler imports."""

_FEW: Final = 2
"""An environment that lacks more of the packages than this was never meant to compile operators."""

_USERS: Final = ("torch_npu", "mindspore", "te")
"""Packages that have CANN compile operators."""

_NOT_PREPARED: Final = "this Python is not one in which CANN compiles operators"
_NUMPY_2: Final = (2, 0)
_TAKES_NUMPY_2: Final = (9, 0)


def _missing(site: Site) -> list[str] | None:
    """What is missing of the packages; None in an environment that was never made for them."""
    version_of = site.machine.package_version
    missing = [name for name in NEEDED if version_of(name) is None]
    wanted = len(missing) <= _FEW or any(version_of(name) for name in _USERS)
    return missing if wanted else None


def _packages(site: Site) -> Finding:
    missing = _missing(site)
    if missing is None:
        return skip(_NOT_PREPARED)
    versions = {name: site.machine.package_version(name) for name in NEEDED}
    seen = tuple(value(name, version or "not installed") for name, version in versions.items())
    if missing:
        return warn(
            f"CANN's operator compiler lacks Python packages: {', '.join(missing)}",
            *seen,
            causes=(
                "they were not installed with CANN, which does not do it by itself",
                "they are installed for another Python than this one",
            ),
            next_step=f"pip install {' '.join(missing)}",
        )
    return ok("the Python packages that CANN's operator compiler needs are installed", *seen)


def _numpy(site: Site) -> Finding:
    if _missing(site) is None:
        return skip(_NOT_PREPARED)
    numpy, cann = site.machine.package_version("numpy"), site.installation.version
    if numpy is None or cann is None:
        return skip("the version of NumPy or of CANN is not known")
    if order_of(numpy)[:2] >= _NUMPY_2 and order_of(cann)[:2] < _TAKES_NUMPY_2:
        return warn(
            f"NumPy {numpy} is newer than what CANN {cann} was made for",
            value("numpy", numpy),
            value("CANN", cann),
            causes=("a newer NumPy came in with another package",),
            next_step="pip install 'numpy<2', if operators fail to compile (EH9999)",
        )
    return ok(f"NumPy {numpy} is one that CANN {cann} can work with")


_check = functools.partial(Check, category="Python", hardware=True)
CHECKS: Final = (
    _check(
        "PY-001",
        "Python packages of CANN",
        "CANN compiles some operators at run time, with Python code that imports NumPy, SciPy, "
        "attrs, decorator, psutil, sympy and cloudpickle. Without them it fails with EH9999, or "
        "aborts. The norms of this package come compiled and need none of it.",
        _packages,
        needs=("CANN-001",),
    ),
    _check(
        "PY-002",
        "NumPy's version",
        "CANN 8 was made for NumPy 1; its operator compiler may fail with NumPy 2. The norms of "
        "this package do not depend on it.",
        _numpy,
        needs=("CANN-001",),
    ),
)
