# SPDX-License-Identifier: Apache-2.0
"""Software beside CANN, where it is installed: products, custom operators, the compiler's Python.

Sources: CANN: installation guides; torch-npu: order of the libraries of custom operators; CANN:
set_env.sh, which puts the operator compiler's packages on PYTHONPATH.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.cann.discovery import custom_operators, custom_packages
from pyaclnn.facts.machine import products
from pyaclnn.health.checks.dependencies import Closure
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyaclnn.facts.machine import Product
    from pyaclnn.health.checks.context import CheckContext

__all__: list[str] = []

_ASCEND: Final = "/usr/local/Ascend"
_MOST: Final = 50
_SHOWN: Final = 8
_COMPILER: Final = ("tbe", "te")
"""Packages of the operator compiler that programs import."""


def _usable(context: CheckContext) -> Finding:
    seen = []
    for product in products():
        folder = _folder(context, product)
        if folder is None:
            continue
        libraries = sorted(islice(folder.glob(product.libraries), _MOST))
        if not libraries:
            return found(
                "EXT-001.incomplete",
                context.seen(folder, f"has no {product.libraries}"),
                name=product.name,
                path=context.machine.shown(folder),
                libraries=product.libraries,
                package=product.package,
            )
        for path, reason in _faults(context, libraries):
            return found(
                "EXT-001.unusable",
                context.seen(path, reason),
                name=product.name,
                path=context.machine.shown(path),
                reason=reason,
                package=product.package,
            )
        seen.append(context.seen(folder, f"{product.name}: {len(libraries)} libraries"))
    return ok("the products beside CANN are usable", *seen) if seen else skip("there are none")


def _folder(context: CheckContext, product: Product) -> Path | None:
    """Return the folder of a product; None if it is not installed, or not in use."""
    named = context.machine.environment.get(product.variable)
    if named:
        return ExaminedPath(named)
    usual = (context.machine.at(f"{_ASCEND}/{folder}") for folder in product.folders)
    return next((folder for folder in usual if folder.is_dir()), None)


def _faults(context: CheckContext, libraries: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the libraries that cannot be loaded, with the reason."""
    for path in libraries:
        closure = context.closure(path)
        reason = closure.fault if isinstance(closure, Closure) else closure
        if reason:
            yield path, reason


def _custom(context: CheckContext) -> Finding:
    root, environment = context.installation.root, context.machine.environment
    own = context.installation.libraries.operators
    libraries = [ExaminedPath(path) for path in custom_operators(environment, root)]
    for path, reason in _faults(context, libraries):
        shown = context.machine.shown(path)
        return found("EXT-002.unusable", context.seen(path, reason), path=shown, reason=reason)
    for package in map(ExaminedPath, custom_packages(environment, root)):
        if not package.exists():
            shown = context.machine.shown(package)
            return found("EXT-002.absent", context.seen(package, "does not exist"), path=shown)
    if not libraries:
        return skip("there are no custom operators")
    known: dict[str, Path] = {}
    seen = []
    for path in [*libraries, *own]:
        closure = context.closure(path)
        names = closure.libraries[0].exports if isinstance(closure, Closure) else frozenset()
        operators = sorted(name for name in names if name.startswith("aclnn"))
        hidden = [name for name in operators if name in known]
        seen += [
            value(name, f"of {context.machine.shown(known[name])}, before that of {path.name}")
            for name in hidden[:_SHOWN]
        ]
        known.update((name, path) for name in operators if name not in known)
    return ok(f"{len(libraries)} libraries of custom operators are usable", *seen)


def _compiler(context: CheckContext) -> Finding:
    """Find the package of the operator compiler that Python would import first."""
    entries = context.machine.environment.get("PYTHONPATH", "").split(":")
    folders = [ExaminedPath(entry) for entry in entries if entry]
    real = str(context.installation.real)
    for name in _COMPILER:
        first = next((folder / name for folder in folders if (folder / name).is_dir()), None)
        if first is not None and not str(first.resolve()).startswith(real):
            seen = context.seen(first, "comes first on PYTHONPATH")
            shown = context.machine.shown(first)
            return found("EXT-003.other", seen, name=name, path=shown, script=context.script)
    return ok("no other operator compiler comes first on PYTHONPATH")
