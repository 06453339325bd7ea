# SPDX-License-Identifier: Apache-2.0
"""Norms as operators of PyTorch's library: with gradients, vmap, and shapes for its compiler."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.torch.norms import AddRmsNorm, GroupNorm, LayerNorm, RmsNorm
from pyaclnn.torch.tensors import pytorch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

_AFFINE: Final = "Tensor input, Tensor? weight, Tensor? bias"


def _operator(name: str, make: Any, tensors: str, saved: str, options: str) -> Any:
    """Register a norm and its gradient.

    Args:
        name: Its name in PyTorch.
        make: Makes the norm from its options.
        tensors: The schema of its tensors.
        saved: The schema of the tensors that its gradient needs.
        options: The schema of its options.

    Returns:
        The function that applies it, and gives the results and then the statistics.
    """
    torch = pytorch()
    forward = _defined(
        name,
        f"({tensors}, {options}) -> ({', '.join(['Tensor'] * (make.results + make.statistics))})",
        tensors.count(",") + 1,
        make,
        lambda norm, given: norm.outputs(*given),
        lambda norm, given, outputs: norm.launch(given, outputs),
    )
    backward = _defined(
        f"{name}_backward",
        f"({saved}, {options}, Tensor[] gradients, bool[] wanted) -> Tensor[]",
        saved.count(",") + 1,
        make,
        lambda norm, kept, _gradients, wanted: norm.gradients(kept, wanted),
        lambda norm, kept, found, gradients, wanted: norm.launch_backward(
            kept, gradients, wanted, found
        ),
    )
    results, places = make.results, make.places
    count, kept_count = tensors.count(",") + 1, saved.count(",") + 1

    class Gradient(torch.autograd.Function):  # type: ignore[misc,name-defined]  # as below
        """The gradient, which has none of its own."""

        generate_vmap_rule = True

        @staticmethod
        def forward(wanted: Any, options: Any, *tensors: Any) -> Any:
            kept, gradients = tensors[:kept_count], list(tensors[kept_count:])
            return tuple(backward(*kept, *options, gradients, wanted))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            pass

        @staticmethod
        def backward(_ctx: Any, *_gradients: Any) -> Any:
            raise NotImplementedError(f"pyaclnn.torch.{name} has no second-order gradients")

    class Function(torch.autograd.Function):  # type: ignore[misc,name-defined]  # known at run time
        """The norm with its gradient, also under the transforms of ``torch.func``."""

        generate_vmap_rule = True

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return forward(*arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            given, ctx.options = inputs[:count], inputs[count:]
            ctx.save_for_backward(*make.saved(given, output))
            ctx.mark_non_differentiable(*output[results:])

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            asked = ctx.needs_input_grad[:count]
            wanted = [
                any(w for w, place in zip(asked, places, strict=True) if place == each)
                for each in range(max(places) + 1)
            ]
            given = gradients[:results]
            call = Gradient.forward if torch.compiler.is_compiling() else Gradient.apply
            found = iter(call(wanted, ctx.options, *ctx.saved_tensors, *given))
            each = [next(found) if is_wanted else None for is_wanted in wanted]
            chosen = zip(asked, places, strict=True)
            result = [each[place] if is_asked else None for is_asked, place in chosen]
            return (*result, *(None for _ in ctx.options))

    return Function.apply


def _defined(
    name: str,
    schema: str,
    count: int,
    make: Any,
    allocate: Callable[..., Any],
    launch: Callable[..., None],
) -> Any:
    """Define an operator that allocates its results and then launches one of aclnn's.

    Args:
        name: Its name in PyTorch.
        schema: Its schema: tensors, options of the norm, and more arguments.
        count: The number of tensors in front.
        make: Makes the norm from its options.
        allocate: Returns the results, also without memory.
        launch: Fills them.
    """
    options = len(fields(make))

    def split(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        end = count + options
        return make(*arguments[count:end]), arguments[:count], *arguments[end:]

    def compute(*arguments: Any) -> Any:
        norm, given, *more = split(arguments)
        results = allocate(norm, given, *more)
        launch(norm, given, results, *more)
        return results

    def fake(*arguments: Any) -> Any:
        norm, given, *more = split(arguments)
        return allocate(norm, given, *more)

    def each_of(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        """Call the operator once for each element of a batch."""
        rows = [
            made(*(_element(a, d, row) for a, d in zip(arguments, places, strict=True)))
            for row in range(info.batch_size)
        ]
        stacked = [pytorch().stack(column) for column in zip(*rows, strict=True)]
        kind = type(rows[0])
        return kind(stacked), kind([0] * len(stacked))

    made = pytorch().library.custom_op(f"pyaclnn::{name}", compute, mutates_args=(), schema=schema)
    made.register_fake(fake)
    made.register_vmap(each_of)
    return getattr(pytorch().ops.pyaclnn, name).default


def _element(argument: Any, place: Any, row: int) -> Any:
    """Return an element of a batched argument, or of each in a list; others as they are."""
    if isinstance(place, int):
        return argument.select(place, row)
    if isinstance(argument, list) and isinstance(place, (list, tuple)):
        return [_element(a, p, row) for a, p in zip(argument, place, strict=True)]
    return argument


_STATISTICS: Final = f"{_AFFINE}, Tensor mean, Tensor rstd"


def __getattr__(name: str) -> Any:
    """Make ``OPERATORS``, the functions that apply the norms by their names, on first use."""
    if name != "OPERATORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault("OPERATORS", _operators())


def _operators() -> dict[str, Any]:
    return {
        "layer_norm": _operator(
            "layer_norm", LayerNorm, _AFFINE, _STATISTICS, "SymInt[] shape, float eps"
        ),
        "group_norm": _operator(
            "group_norm", GroupNorm, _AFFINE, _STATISTICS, "SymInt groups, float eps"
        ),
        "rms_norm": _operator(
            "rms_norm",
            RmsNorm,
            "Tensor input, Tensor weight",
            "Tensor input, Tensor weight, Tensor rstd",
            "float eps",
        ),
        "add_rms_norm": _operator(
            "add_rms_norm",
            AddRmsNorm,
            "Tensor x1, Tensor x2, Tensor weight",
            "Tensor total, Tensor weight, Tensor rstd",
            "float eps",
        ),
    }
