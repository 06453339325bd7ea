# SPDX-License-Identifier: Apache-2.0
"""Python packages that CANN itself needs to compile operators at run time.

Source: CANN: installation guide, Python dependencies; reports of users in whose environment they
were missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.checks.installation import order_of

if TYPE_CHECKING:
    from pyaclnn.health.checks.context import CheckContext

__all__ = []

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
