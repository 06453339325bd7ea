# SPDX-License-Identifier: Apache-2.0
"""Norms as operators of PyTorch's library: with gradients, vmap, and shapes for its compiler."""

from __future__ import annotations

import functools
import operator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.locks import reentrant_lock
from pyaclnn.torch.launches import Launches
from pyaclnn.torch.norms import AddRmsNorm, GroupNorm, LayerNorm, RmsNorm
from pyaclnn.torch.tensors import pytorch, require_npu

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


def _operator(  # noqa: C901  # functions that share what differs between norms
    name: str, make: Any, tensors: str, saved: str, options: str
) -> Any:
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
    argument_names = _names(tensors)
    ahead = Launches(
        name,
        argument_names,
        lambda given, *norm: make(*norm).outputs(*given),
        lambda given, made, *norm: make(*norm).call(given, made),
    )
    back = Launches(
        name,
        [*_names(saved), *["grad_out"] * make.results],
        lambda given, *norm: make(*norm[:-1]).gradients(given[:kept_count], norm[-1]),
        lambda given, made, *norm: make(*norm[:-1]).call_backward(
            given[:kept_count], given[kept_count:], made, norm[-1]
        ),
    )

    def launched(arguments: tuple[Any, ...], launch: Any = ahead.run) -> tuple[Any, ...]:
        return tuple(launch(arguments[:count], arguments[count:]))

    def launched_backward(arguments: tuple[Any, ...], launch: Any = back.run) -> Any:
        kept, norm, (upstream, wanted) = (
            arguments[:kept_count],
            arguments[kept_count:-2],
            arguments[-2:],
        )
        made = launch((*kept, *upstream), (*norm, tuple(wanted)))
        return make.returned(made, kept, upstream, wanted)

    forward = _defined(
        name,
        f"({tensors}, {options}) -> ({', '.join(['Tensor'] * (make.results + make.statistics))})",
        launched,
        partial(launched, launch=ahead.made),
    )
    backward = _defined(
        f"{name}_backward",
        f"({saved}, {options}, Tensor[] gradients, bool[] wanted) -> Tensor[]",
        launched_backward,
        partial(launched_backward, launch=back.made),
    )
    results, places = make.results, make.places
    # For each gradient, the tensors that it is one of.
    sources = [[i for i, p in enumerate(places) if p == each] for each in range(max(places) + 1)]
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
            wanted = [any(asked[index] for index in of) for of in sources]
            kept = ctx.saved_tensors
            upstream = [torch.zeros_like(kept[0]) if g is None else g for g in gradients[:results]]
            if compiling():
                found = Gradient.forward(wanted, ctx.options, *kept, *upstream)
            elif torch.is_grad_enabled() or not _is_plain((*kept, *upstream)):
                found = Gradient.apply(wanted, ctx.options, *kept, *upstream)
            else:
                found = launched_backward((*kept, *ctx.options, upstream, wanted))
            each = iter(found)
            found = [next(each) if is_wanted else None for is_wanted in wanted]
            result = [found[place] if asked[index] else None for index, place in enumerate(places)]
            return (*result, *[None] * len(ctx.options))

    class Recorded(Function):
        """The norm with its gradient, where nothing else looks on."""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return launched(arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            ctx.set_materialize_grads(False)  # of statistics, which have none
            Function.setup_context(ctx, inputs, output)

    # Without the preparations for transforms, which take longer than the norm.
    recorded = super(torch.autograd.Function, Recorded).apply
    # The compiler's number of active transforms; without the name, there may be one.
    depth = getattr(torch._C._functorch, "get_dynamic_layer_stack_depth", lambda: 1)  # noqa: SLF001

    run, is_recording = ahead.run, torch.is_grad_enabled

    def apply(*arguments: Any) -> Any:
        is_compiling, given = compiling(), arguments[:count]
        if depth() if is_compiling else not _is_plain(given):
            for argument, tensor in zip(argument_names, given, strict=True):
                if tensor is not None:
                    require_npu(name, argument, tensor)
            return Function.apply(*arguments)
        if is_recording():
            for tensor in given:
                if tensor is not None and tensor.requires_grad:
                    return (Function.apply if is_compiling else recorded)(*arguments)
        if is_compiling:
            return forward(*arguments)
        return run(given, arguments[count:], results)

    return apply


def _is_plain(arguments: Iterable[Any]) -> bool:
    """Return whether nothing looks on at a call with these arguments, but perhaps autograd.

    Transforms, modes, profilers, tracing, tangents, subclasses of tensors and what transforms leave
    need PyTorch's dispatcher.
    """
    looks_on, is_wrapped, tensors, others = _plainness()
    if looks_on():
        return False
    for argument in arguments:
        kind = type(argument)
        if kind in tensors:
            if is_wrapped(argument) or argument.is_neg():
                return False
        elif not (_is_plain(argument) if kind is list else kind in others):
            return False
    return True


@functools.cache
def _plainness() -> tuple[Callable[[], Any], Callable[[Any], bool], Any, Any]:
    """Return the function that says whether something looks on, and the types of a plain call.

    Where a release of PyTorch lacks one of the names, something may look on at every call.
    """
    torch, named = pytorch(), operator.attrgetter
    types = {torch.Tensor, torch.nn.Parameter}, {torch.Size, type(None), tuple, int, float, bool}
    profiler, forward_ad = torch.autograd.profiler, torch.autograd.forward_ad
    try:
        # Both flags must exist: the call would not ask for the second one.
        named("autograd.profiler._is_profiler_enabled", "autograd.forward_ad._current_level")(torch)
        is_wrapped = named("_C._functorch.is_functorch_wrapped_tensor")(torch)
        transforms, modes, functions, traces, profiles = named(*_ONLOOKERS)(torch)
    except AttributeError:
        return (lambda: True), bool, *types

    def looks_on() -> Any:  # a loop would take longer than the calls
        return (
            transforms()
            or modes()
            or functions()
            or traces()
            or profiles()
            or profiler._is_profiler_enabled  # noqa: SLF001  # as above
            or forward_ad._current_level >= 0  # noqa: SLF001  # as above
        )

    return looks_on, is_wrapped, *types


def _names(schema: str) -> list[str]:
    """Return the names of the arguments of a schema."""
    return [argument.split()[-1] for argument in schema.split(",")]


def _defined(
    name: str, schema: str, launched: Callable[..., Any], made: Callable[..., Any]
) -> Callable[..., Any]:
    """Define an operator.

    Args:
        name: Its name in PyTorch.
        schema: Its schema.
        launched: Launches it with a tuple of arguments.
        made: Returns the same results, with nothing in them.

    Returns:
        The function, which is past PyTorch's dispatcher where nothing looks on.
    """

    def each_of(info: Any, places: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        """Call the operator once for each element of a batch."""
        rows = [
            made_by_name(*(_element(a, d, row) for a, d in zip(arguments, places, strict=True)))
            for row in range(info.batch_size)
        ]
        stacked = [pytorch().stack(column) for column in zip(*rows, strict=True)]
        kind = type(rows[0])
        return kind(stacked), kind([0] * len(stacked))

    torch, library = pytorch(), _library()
    library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    library.impl(name, lambda *arguments: launched(_hashable(arguments)), "PrivateUse1")
    torch.library.register_fake(f"pyaclnn::{name}", lambda *given: made(given), lib=library)
    torch.library.register_vmap(f"pyaclnn::{name}", each_of, lib=library)
    made_by_name = getattr(torch.ops.pyaclnn, name).default

    def call(*arguments: Any) -> Any:
        plain = not torch.compiler.is_compiling() and _is_plain(arguments)
        return launched(arguments) if plain else made_by_name(*arguments)

    return call


def _hashable(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with tuples for lists, as which PyTorch's dispatcher gives sequences."""
    return tuple(tuple(a) if type(a) is list else a for a in arguments)


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


_making: Final = reentrant_lock()


def __getattr__(name: str) -> Any:
    """Make ``OPERATORS``, the functions that apply the norms by their names, on first use."""
    if name != "OPERATORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _making:
        if name not in globals():  # or another thread was first: PyTorch takes a name once
            globals()[name] = {norm[0]: _operator(*norm) for norm in _NORMS}
    return globals()[name]
