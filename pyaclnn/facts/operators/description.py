# SPDX-License-Identifier: Apache-2.0
"""Constructor of descriptions: Python names from C names, attributes from words."""

from __future__ import annotations

import re
from functools import cache
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators import checks as of
from pyaclnn.facts.operators.operator import Build, Operator, primary_of
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Role, Tensor
from pyaclnn.facts.operators.request import Hooks
from pyaclnn.facts.operators.types import Types
from pyaclnn.facts.operators.words import MAX_RANK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypedDict

    from pyaclnn.facts.operators.checks import Check, Checks
    from pyaclnn.facts.operators.operator import Constraint, FindLengths, FindMistake
    from pyaclnn.facts.operators.parameters import Parameter, TensorDetails

    class Changes(TypedDict, total=False):
        """The differences from a release of CANN on; see `describe`."""

        build: Build
        types: Mapping[str, str]
        checks: Checks
        constraint: Constraint | None
        hooks: Hooks
        parameters: Mapping[str, TensorDetails]


__all__ = ["Build", "describe", "snake_case"]


def describe(
    c_name: str,
    build: Build,
    doc: str,
    *,
    types: Mapping[str, str],
    parameters: Mapping[str, Parameter],
    source: str,
    checks: Checks = (),
    python: str = "",
    torch: str = "",
    result_type: str = "",
    definition: str = "",
    constraint: Constraint | None = None,
    lengths: FindLengths | None = None,
    nonempty: str = "",
    zeros: tuple[str, tuple[str, ...]] | None = None,
    channels_last: tuple[str, ...] = (),
    accepted_types: Mapping[str, str] | None = None,
    essential: bool = False,
    in_place: bool = False,
    lists: bool = False,
    saved: str = "",
    mistake: FindMistake | None = None,
    hooks: Hooks | None = None,
    later: Mapping[str, Changes] | None = None,
    shows: str = "",
) -> Operator:
    """Describe an operator.

    Args:
        c_name: The C name of phase 2.
        build: Its build in CANN.
        doc: The computation in a sentence, with the formula.
        types: Rows of types by chip families, see :mod:`pyaclnn.facts.operators.types`.
        parameters: The C parameters, by their C names in the order of C.
        source: Where CANN has its rules.
        checks: Those of phase 1 in CANN's order, see :mod:`pyaclnn.facts.operators.checks`; of an
            individual operator those of the kernel's tiling, before its options. By default
            `checks.COMPOSITE`, or all shapes.
        python: The names of the Python signature, where PyTorch has the function and another order
            than C.
        torch: The signature of PyTorch's function, whose calls are accepted where no call of the
            operator's own looks the same; see `TorchSignature.of`.
        result_type: The name of the named tuple of outputs; by default made of the C name.
        definition: The name in `pyaclnn.reference`; by default made of the C name.
        constraint: As in `Operator`, as are the next seven.
        lengths: Finds lengths of further words.
        nonempty: A group of axes.
        zeros: Groups of axes, and outputs.
        channels_last: Families of chips.
        accepted_types: Rows of types by chip families, ``*`` for any.
        essential: True if a CANN without it is no CANN for norms.
        in_place: True if an output may be exactly an input.
        lists: True if C takes a list of tensors for every tensor.
        saved: The name of another operator, and of tensors that its result has.
        mistake: As in `Operator`.
        hooks: Functions for what no check states.
        later: Changes by the release of CANN that makes them: of any of these arguments, and of
            attributes of tensors by their C names.
        shows: Output of the docstring's example: the second row of the first result.
    """
    named = {
        key: p._replace(c_name=key, name=p.name or _name(key, p)) for key, p in parameters.items()
    }
    positional, keywords = _signature([p for p in named.values() if not _is_derived(p)])
    base = c_name.removeprefix("aclnn")
    return Operator(
        c_name=c_name,
        name=snake_case(base),
        build=build,
        doc=doc,
        parameters=named,
        types=Types.of(types),
        checks=_all_checks(checks, build, named),
        positional=tuple(python.split() or positional),
        keywords=tuple(keywords),
        result_type=result_type or f"{base}Result",
        definition=definition or snake_case(base),
        constraint=constraint,
        lengths=lengths,
        nonempty=nonempty,
        zeros=zeros,
        channels_last=channels_last,
        accepted_types=Types.of(accepted_types or {}).families,
        essential=essential,
        in_place=in_place,
        source=source,
        lists=lists,
        saved=tuple(saved.split()),
        mistake=mistake,
        hooks=hooks or Hooks(),
        later={
            release: _attributes({"checks": checks, **changes}, build, named)
            for release, changes in (later or {}).items()
        },
        shows=shows,
        torch_text=torch,
    )


def _attributes(
    changes: Changes, build: Build, parameters: Mapping[str, Parameter]
) -> dict[str, Any]:
    """Return attributes of `Operator` from changes of a description."""
    found: dict[str, Any] = dict(changes)
    details = changes.get("parameters", {})
    found["parameters"] = {
        c_name: p._replace(**details[c_name]) if isinstance(p, Tensor) and c_name in details else p
        for c_name, p in parameters.items()
    }
    if "types" in changes:
        found["types"] = Types.of(changes["types"])
    build = changes.get("build", build)
    found["checks"] = _all_checks(changes["checks"], build, found["parameters"])
    return found


def _all_checks(
    checks: Checks, build: Build, parameters: Mapping[str, Parameter]
) -> tuple[Check, ...]:
    """Return all checks of phase 1, those included that every operator of its build has."""
    individual = build is Build.INDIVIDUAL
    every: Checks
    if individual:
        every = (*of.GENERATED, *of.in_tiling(checks or of.shapes(), of.options()))
    else:
        every = (of.pointers("workspaceSize", "executor"), checks or of.COMPOSITE)
    has_mask = any(isinstance(p, Option) and p.kind is Kind.MASK for p in parameters.values())
    found = [
        one
        for check in of.flattened(every)
        if has_mask or check.kind not in ("mask", "mask_length", "selected")
        for one in (_shapes(check, parameters, build) if check.kind == "shapes" else (check,))
    ]
    unknown = {name for check in found for name in check.names} - {*parameters, *_POINTERS}
    if unknown:
        raise ValueError(f"checks name parameters that are not there: {', '.join(unknown)}")
    if not individual and not any(check.kind == "wanted" for check in found):
        found += of.flattened(of.launch())
    return tuple(found)


_POINTERS = ("workspaceSize", "executor")


def _shapes(shapes: Check, parameters: Mapping[str, Parameter], build: Build) -> Iterator[Check]:
    """Yield the checks that stand for those of all shapes."""
    tensors = [name for name, p in parameters.items() if isinstance(p, Tensor)]
    if build is Build.INDIVIDUAL:
        made = [of.rank(primary_of(parameters).c_name, most=MAX_RANK), of.rank(*tensors)]
    else:
        repeated = [
            name
            for name, p in parameters.items()
            if isinstance(p, Option) and (p.kind is Kind.LENGTHS or p.derived is not None)
        ]
        made = [of.rank(*tensors, most=MAX_RANK), of.agree(*repeated)]
    for check in (*made, of.shape(*tensors)):
        if check.names:
            yield check._replace(code=shapes.code, late=shapes.late)


def _signature(arguments: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """Return names in the order of C: optional ones last; from a mask or dtype on by keyword."""
    chosen = (Kind.MASK, Kind.DTYPE)
    by_name = dropwhile(lambda p: isinstance(p, Tensor) or p.kind not in chosen, arguments)
    keywords = [p.name for p in by_name]
    positional = sorted((p for p in arguments if p.name not in keywords), key=_may_be_left_out)
    return [p.name for p in positional], keywords


def _may_be_left_out(parameter: Parameter) -> bool:
    if isinstance(parameter, Tensor):
        return parameter.optional
    return parameter.default is not REQUIRED


def _is_derived(parameter: Parameter) -> bool:
    if isinstance(parameter, Tensor):
        return parameter.role is Role.OUTPUT
    return parameter.derived is not None


def _name(c_name: str, parameter: Parameter) -> str:
    if isinstance(parameter, Option) and parameter.derived is not None:
        return c_name
    name = c_name.removesuffix("Optional")
    if isinstance(parameter, Tensor) and parameter.written and name != "out":
        name = name.removesuffix("Out").removesuffix("Ref")
    return snake_case(name)


@cache
def snake_case(name: str) -> str:
    """Write a C name as Python does."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
