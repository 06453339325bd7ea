# SPDX-License-Identifier: Apache-2.0
"""Norms as operators of PyTorch's library: with gradients, vmap, and shapes for its compiler."""

from __future__ import annotations

import functools
import operator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.torch.norms import AddRmsNorm, GroupNorm, LayerNorm, RmsNorm
from pyaclnn.torch.tensors import pytorch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__: list[str] = []

_AFFINE: Final = "Tensor input, Tensor? weight, Tensor? bias"
_ONLOOKERS: Final = (
    "_C._are_functorch_transforms_active",
    "_C._len_torch_dispatch_stack",
    "_C._len_torch_function_stack",
    "_C._get_tracing_state",
    "autograd._profiler_enabled",  # on this thread, also by torch-npu
)
"""Functions of PyTorch that say whether something looks on; they have no public names."""


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
    count, kept_count = tensors.count(",") + 1, saved.count(",") + 1
    compute, forward = _defined(
        name,
        f"({tensors}, {options}) -> ({', '.join(['Tensor'] * (make.results + make.statistics))})",
        count,
        make,
        lambda norm, given: norm.outputs(*given),
        lambda norm, given, outputs: norm.launch(given, outputs),
    )
    _, backward = _defined(
        f"{name}_backward",
        f"({saved}, {options}, Tensor[] gradients, bool[] wanted) -> Tensor[]",
        kept_count,
        make,
        lambda norm, kept, _gradients, wanted: norm.gradients(kept, wanted),
        lambda norm, kept, found, gradients, wanted: norm.launch_backward(
            kept, gradients, wanted, found
        ),
    )
    results, places = make.results, make.places
    compiling = torch.compiler.is_compiling

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
            given = (*ctx.saved_tensors, *gradients[:results])
            is_last = compiling() or (not torch.is_grad_enabled() and _is_plain(given))
            call = Gradient.forward if is_last else Gradient.apply
            found = iter(call(wanted, ctx.options, *given))
            each = [next(found) if is_wanted else None for is_wanted in wanted]
            chosen = zip(asked, places, strict=True)
            result = [each[place] if is_asked else None for is_asked, place in chosen]
            return (*result, *(None for _ in ctx.options))

    # Without the preparations for transforms, which take longer than the norm.
    recorded = super(torch.autograd.Function, Function).apply
    # How many transforms are active, as the compiler knows it; without the name, there may be one.
    depth = getattr(torch._C._functorch, "get_dynamic_layer_stack_depth", lambda: 1)  # noqa: SLF001

    def apply(*arguments: Any) -> Any:
        is_compiling, given = compiling(), arguments[:count]
        if depth() if is_compiling else not _is_plain(arguments):
            return Function.apply(*arguments)
        if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in given):
            return (Function.apply if is_compiling else recorded)(*arguments)
        return (forward if is_compiling else compute)(*arguments)

    return apply


def _is_plain(arguments: Iterable[Any]) -> bool:
    """Return whether nothing looks on at a call with these arguments, but perhaps autograd.

    Transforms, modes, profilers, tracing, tangents, subclasses of tensors and what transforms leave
    need PyTorch's dispatcher.
    """
    onlookers, is_wrapped, tensors, others = _plainness()
    for looks_on in onlookers:
        if looks_on():
            return False
    for argument in arguments:
        kind = type(argument)
        if kind in tensors:
            if is_wrapped(argument):
                return False
        elif not (_is_plain(argument) if kind is list else kind in others):
            return False
    return True


@functools.cache
def _plainness() -> tuple[tuple[Callable[[], Any], ...], Callable[[Any], bool], Any, Any]:
    """Return what says that something looks on, and the types of arguments of a plain call.

    Where a release of PyTorch lacks one of the names, something may look on at every call.
    """
    torch, named = pytorch(), operator.attrgetter
    types = {torch.Tensor, torch.nn.Parameter}, {torch.Size, type(None), tuple, int, float, bool}
    profiler, forward_ad = torch.autograd.profiler, torch.autograd.forward_ad

    def flagged() -> Any:
        return profiler._is_profiler_enabled or forward_ad._current_level >= 0  # noqa: SLF001  # as above

    try:
        # Both flags must exist: the call would not ask for the second one.
        named("autograd.profiler._is_profiler_enabled", "autograd.forward_ad._current_level")(torch)
        is_wrapped = named("_C._functorch.is_functorch_wrapped_tensor")(torch)
        return (*named(*_ONLOOKERS)(torch), flagged), is_wrapped, *types
    except AttributeError:
        return (lambda: True,), bool, *types


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

    Returns:
        The function past PyTorch's dispatcher, and the one through it where something looks on.
    """
    end = count + len(fields(make))

    def split(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
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

    torch, library = pytorch(), _library()
    library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    library.impl(name, compute, "PrivateUse1")
    torch.library.register_fake(f"pyaclnn::{name}", fake, lib=library)
    torch.library.register_vmap(f"pyaclnn::{name}", each_of, lib=library)
    made = getattr(torch.ops.pyaclnn, name).default

    def call(*arguments: Any) -> Any:
        plain = not torch.compiler.is_compiling() and _is_plain(arguments)
        return (compute if plain else made)(*arguments)

    return compute, call


@functools.cache
def _library() -> Any:
    """Return this package's part of PyTorch's library, which lasts as long as this is kept."""
    return pytorch().library.Library("pyaclnn", "FRAGMENT")


def _element(argument: Any, place: Any, row: int) -> Any:
    """Return an element of a batched argument, or of each in a list; others as they are."""
    if isinstance(place, int):
        return argument.select(place, row)
    if isinstance(argument, list) and isinstance(place, (list, tuple)):
        return [_element(a, p, row) for a, p in zip(argument, place, strict=True)]
    return argument


_STATISTICS: Final = f"{_AFFINE}, Tensor mean, Tensor rstd"
_SCALED: Final = "Tensor input, Tensor weight"
_SUMMANDS: Final = "Tensor x1, Tensor x2, Tensor weight"
_NORMS: Final[tuple[tuple[str, Any, str, str, str], ...]] = (
    ("layer_norm", LayerNorm, _AFFINE, _STATISTICS, "SymInt[] shape, float eps"),
    ("group_norm", GroupNorm, _AFFINE, _STATISTICS, "SymInt groups, float eps"),
    ("rms_norm", RmsNorm, _SCALED, f"{_SCALED}, Tensor rstd", "float eps"),
    ("add_rms_norm", AddRmsNorm, _SUMMANDS, f"{_SCALED}, Tensor rstd", "float eps"),
)
"""The arguments of ``_operator`` for each norm."""


def __getattr__(name: str) -> Any:
    """Make ``OPERATORS``, the functions that apply the norms by their names, on first use."""
    if name != "OPERATORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, {norm[0]: _operator(*norm) for norm in _NORMS})
