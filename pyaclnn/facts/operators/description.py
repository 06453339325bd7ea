# SPDX-License-Identifier: Apache-2.0
"""How operators are described: names by the custom of each side, attributes in words."""

from __future__ import annotations

import re
from functools import cache
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.operator import Build, Operator
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Role, Tensor
from pyaclnn.facts.operators.types import Types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.facts.operators.parameters import Parameter

__all__ = ["Build", "describe", "snake_case"]

_WORDS = ("barred", "channels_last", "compared", "idle_without", "needed", "null_is_invalid")


def describe(
    c_name: str,
    build: Build,
    says: str,
    *,
    types: Mapping[str, str],
    about: Mapping[str, Any],
    **parameters: Parameter,
) -> Operator:
    """Describe an operator.

    Args:
        c_name: The C name of phase 2.
        build: How CANN builds it.
        says: What it computes.
        types: Rows of types by chip families, see :mod:`pyaclnn.facts.operators.types`.
        about: Further attributes of `Operator`. ``python`` lists the names of the Python signature,
            where PyTorch has the function and another order than C; see `_signature`.
            ``later`` has, by the name of a release, what is otherwise from that release on: any of
            these attributes, and ``build``, ``types`` and ``parameters``, the last with the changed
            attributes of parameters by their C names.
        **parameters: What is said of the C parameters, by their C names in the order of C.
    """
    named = {
        key: p._replace(c_name=key, name=p.name or _name(key, p)) for key, p in parameters.items()
    }
    more = _attributes(about, named)
    positional, keywords = _signature([p for p in named.values() if not _is_derived(p)])
    base = c_name.removeprefix("aclnn")
    return Operator(
        c_name=c_name,
        name=snake_case(base),
        build=build,
        says=says,
        parameters=named,
        types=Types.of(types),
        order=more.pop("order", "nmdasfe"),
        positional=tuple(more.pop("python", " ".join(positional)).split()),
        keywords=tuple(keywords),
        result_type=more.pop("result_type", f"{base}Result"),
        definition=more.get("definition", snake_case(base)),
        quirks=more.pop("quirks", more.pop("definition", snake_case(base))),
        **more,
    )


def _attributes(about: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Attributes of an operator as it has them, of what a description says."""
    more: dict[str, Any]
    more = {key: tuple(value.split()) if key in _WORDS else value for key, value in about.items()}
    if "listed" in more:
        more["listed"] = Types.of({"*": more["listed"]}).rows
    if "types" in more:
        more["types"] = Types.of(more["types"])
    if "parameters" in more:
        changed = {
            c_name: parameters[c_name]._replace(**to) for c_name, to in more["parameters"].items()
        }
        more["parameters"] = {**parameters, **changed}
    if "later" in more:
        more["later"] = {
            release: _attributes(changes, parameters) for release, changes in more["later"].items()
        }
    return more


def _signature(arguments: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """Names in the order of C: those that may be left out last; from a mask or dtype on by name."""
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
        return parameter.role is Role.RESULT
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
