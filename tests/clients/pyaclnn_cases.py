# SPDX-License-Identifier: Apache-2.0
"""Cases, as in `torch_cases`, of PyTorch and pyaclnn together; on the CPU PyTorch is alone."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch_cases import ROWS, WIDTH, _backward, _given, _random

if TYPE_CHECKING:
    from torch_cases import Results


def sharing_with_pyaclnn(device: str) -> Results:
    x = _random(ROWS, WIDTH).to(device) * 2
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,)), "host": x}
    import pyaclnn  # noqa: PLC0415  # torch-npu comes first

    npu = pyaclnn.Device.current()
    with pyaclnn.Stream.borrow(torch.npu.current_stream().npu_stream, npu) as stream:
        shared = pyaclnn.from_dlpack(x, npu)
        normed = pyaclnn.layer_norm(shared, WIDTH, stream=stream)[0]
        stream.synchronize()
        found = torch.from_numpy(normed.numpy())
        host = torch.from_numpy(pyaclnn.to_device(x.cpu(), npu).numpy())
    return {"normed": found, "host": host}


def arrays_of_pyaclnn(device: str) -> Results:
    """PyTorch works on a device array where it is, also when that is still to be written."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(2 * x, (WIDTH,))}
    torch.npu.set_device(device)
    import pyaclnn  # noqa: PLC0415  # torch-npu comes first

    npu = pyaclnn.Device.current()
    with pyaclnn.Stream(npu) as stream:
        array = pyaclnn.to_device(x, npu)
        twice = pyaclnn.aclnn.muls(array, 2.0, stream=stream)
        shared = torch.from_dlpack(twice)
        assert shared.data_ptr() == twice.address
        del array, twice
        normed = torch.nn.functional.layer_norm(shared, (WIDTH,)).cpu()
        del shared
    return {"normed": normed}


def streams_of_pytorch(device: str) -> Results:
    """PyTorch's streams are given to pyaclnn as they are, also with work that is held back."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.rms_norm(2 * x, (WIDTH,), None, 1e-6)}
    torch.npu.set_device(device)
    import pyaclnn  # noqa: PLC0415  # torch-npu comes first

    side, given = torch.npu.Stream(), x.to(device)
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        shared = pyaclnn.DeviceArray.from_dlpack(given * 2, stream=side)
        normed = pyaclnn.rms_norm(shared, pyaclnn.ones(WIDTH), stream=side).y
    return {"normed": torch.from_numpy(normed.numpy(stream=side))}


def _norms(device: str, dtype: torch.dtype, *, affine: bool) -> Results:
    """The norms of pyaclnn, and of PyTorch on the CPU, of a view, with their gradients."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first
    weight, bias = (1 + _random(WIDTH, dtype=dtype), _random(WIDTH, dtype=dtype, seed=2))
    used = (weight, bias) if affine else ()
    rows = _random(WIDTH, ROWS, dtype=dtype, seed=1)
    calls = {
        "layer": (rows, lambda x, *a: norms.layer_norm(x.t(), (WIDTH,), *a), used),
        "rms": (rows, lambda x, *a: norms.rms_norm(x.t(), (WIDTH,), *a), used[:1]),
        "group": (
            _random(5, WIDTH, 2, dtype=dtype),
            lambda x, *a: norms.group_norm(x.transpose(0, 2), 4, *a),
            used,
        ),
    }
    found: Results = {}
    for name, (x, call, others) in calls.items():
        results = _backward(call, device, *(tensor.clone() for tensor in (x, *others)))
        found |= {f"{name}: {key}": value for key, value in results.items()}
    return found


def norms_of_pyaclnn(device: str) -> Results:
    return _norms(device, torch.float32, affine=True)


def norms_of_pyaclnn_without_weights(device: str) -> Results:
    return _norms(device, torch.float32, affine=False)


def norms_of_pyaclnn_in_float16(device: str) -> Results:
    return _norms(device, torch.float16, affine=True)


def norms_of_pyaclnn_in_bfloat16(device: str) -> Results:
    return _norms(device, torch.bfloat16, affine=True)


def norms_of_pyaclnn_under_autocast(device: str) -> Results:
    """Layer and group norms are float32 there, as those of PyTorch on an NPU."""
    if device == "cpu":
        wide = _norms(device, torch.float32, affine=True)
        return {name: value for name, value in wide.items() if name.endswith("out")}
    norms: Any = torch.nn.functional
    with torch.autocast(device):
        x = _random(ROWS, WIDTH).half().to(device)
        assert norms.layer_norm(x, (WIDTH,)).dtype == torch.float32
        found = _norms(device, torch.float32, affine=True)
        import pyaclnn.torch as own  # noqa: PLC0415  # torch-npu comes first

        leaf = x.detach().requires_grad_()
        out = own.layer_norm(leaf, WIDTH, torch.ones(WIDTH).half().to(device))
        assert (out.dtype, own.group_norm(x, 4).dtype) == (torch.float32, torch.float32)
        assert own.rms_norm(x, WIDTH).dtype == norms.rms_norm(x, (WIDTH,)).dtype
        out.sum().backward()
        assert leaf.grad.dtype == torch.float16
    return {name: value for name, value in found.items() if name.endswith("out")}


def sums_that_pyaclnn_norms(device: str) -> Results:
    """Both results are used, and one tensor is given twice."""

    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if device == "cpu":
            normed, total = torch.nn.functional.rms_norm(x + x, (WIDTH,), weight, 1e-6), x + x
        else:
            import pyaclnn.torch  # noqa: PLC0415  # torch-npu comes first

            normed, total = pyaclnn.torch.add_rms_norm(x, x, weight)
        return normed * total

    return _backward(norm, device, _random(ROWS, WIDTH), _random(WIDTH, seed=1))


def norms_of_pyaclnn_in_a_network(device: str) -> Results:
    """On a stream of its own, in the midst of PyTorch's operators; and once without gradients."""
    norm: Any = torch.nn.functional.layer_norm
    side: Any = contextlib.nullcontext()
    if device != "cpu":
        torch.npu.set_device(device)
        from pyaclnn.torch import layer_norm as norm  # noqa: PLC0415  # torch-npu comes first

        side = torch.npu.stream(torch.npu.Stream())
    with side:
        x, weight = (_given(_random(ROWS, WIDTH), device), _given(_random(WIDTH, seed=1), device))
        y = norm(norm(x * 2, (WIDTH,), weight), (WIDTH,)) + x
        (y * y).sum().backward()
        with torch.no_grad():
            plain = norm(x, (WIDTH,), weight)
        assert not plain.requires_grad
        found = {"out": y, "plain": plain, "gradient": x.grad, "of weight": weight.grad}
        return {name: value.detach().cpu() for name, value in found.items()}


def norms_of_pyaclnn_compiled(device: str) -> Results:
    """Without a break of the graph, in both directions."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    def network(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return norms.rms_norm(2 * norms.layer_norm(x, (WIDTH,), weight), (WIDTH,), weight, 1e-6)

    compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
    run = network if device == "cpu" else compiled
    given = _random(ROWS, WIDTH), _random(WIDTH, seed=1)
    with torch.no_grad():
        inferred = run(*(each.to(device) for each in given))
    return {**_backward(run, device, *given), "without gradients": inferred}


def norms_of_pyaclnn_under_transforms(device: str) -> Results:
    """Gradients of each row, and a norm of each element of a batch."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    def loss(row: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return norms.layer_norm(row, (WIDTH,), weight).pow(2).sum()

    x, weight = _random(ROWS, WIDTH).to(device), _random(WIDTH, seed=1).to(device)
    images = _random(3, 2, 4, 5).to(device)
    return {
        "gradients": torch.func.vmap(torch.func.grad(loss, (0, 1)), (0, None))(x, weight)[1],
        "groups": torch.func.vmap(lambda image: norms.group_norm(image, 2))(images),
    }


class _Seen:
    """The operators that a mode of PyTorch is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))

    __torch_function__ = __torch_dispatch__  # type: ignore[assignment,unused-ignore]


class _SeenOperators(_Seen, TorchDispatchMode):  # type: ignore[misc,unused-ignore]
    """Those that reach PyTorch's dispatcher."""


class _SeenFunctions(_Seen, TorchFunctionMode):  # type: ignore[misc,unused-ignore]
    """Those that a program calls."""


def _count(seen: _Seen | torch.profiler.profile, name: str) -> int:
    if isinstance(seen, _Seen):
        return seen.names.count(f"pyaclnn.{name}.default")
    return [event.name for event in seen.events()].count(f"pyaclnn::{name}")


def norms_of_pyaclnn_with_onlookers(device: str) -> Results:
    """Modes and profilers see a norm as one operator; what has no derivative says so."""
    x = _random(ROWS, WIDTH).to(device)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    torch.npu.set_device(device)
    from pyaclnn.torch import layer_norm  # noqa: PLC0415  # torch-npu comes first

    leaf = x.clone().requires_grad_()
    threads = torch.profiler._ExperimentalConfig(profile_all_threads=True)
    # The number of times that each sees the gradient, which is no function that a program calls.
    onlookers: dict[Any, int] = {
        _SeenOperators: 1,
        _SeenFunctions: 0,
        torch.profiler.profile: 1,
        partial(torch.profiler.profile, experimental_config=threads): 1,
    }
    for onlooker, gradients in onlookers.items():
        with onlooker() as seen, torch.no_grad():
            normed = layer_norm(x, (WIDTH,))
        assert _count(seen, "layer_norm") == 1, onlooker
        with onlooker() as seen:
            layer_norm(leaf, (WIDTH,)).sum().backward()
        assert _count(seen, "layer_norm") == 1, onlooker
        assert _count(seen, "layer_norm_backward") == gradients, onlooker
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        with contextlib.suppress(RuntimeError, NotImplementedError):
            raise AssertionError(f"a tangent is lost: {layer_norm(dual, (WIDTH,))}")
    (first,) = torch.autograd.grad(layer_norm(leaf, (WIDTH,)).sum(), leaf, create_graph=True)
    with contextlib.suppress(NotImplementedError):
        first.sum().backward()
        raise AssertionError("a second-order gradient is lost")
    return {"normed": normed}


def norms_of_pyaclnn_where_pytorch_lacks_a_name(device: str) -> Results:
    """Nobody is overlooked where PyTorch cannot say who looks on."""
    x = _random(ROWS, WIDTH).to(device)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    torch.npu.set_device(device)
    from pyaclnn.torch import layer_norm  # noqa: PLC0415  # torch-npu comes first

    name = "_len_torch_dispatch_stack"
    known = getattr(torch._C, name)
    delattr(torch._C, name)
    try:
        normed = layer_norm(x, (WIDTH,))
    finally:
        setattr(torch._C, name, known)
    with _SeenOperators() as seen:
        layer_norm(x, (WIDTH,))
    assert _count(seen, "layer_norm") == 1
    return {"normed": normed}


def norms_of_pyaclnn_of_what_a_transform_leaves(device: str) -> Results:
    """The tensor of a transform that has ended is the one that was given to it."""
    norms: Any = torch.nn.functional
    if device != "cpu":
        torch.npu.set_device(device)
        import pyaclnn.torch as norms  # noqa: PLC0415  # torch-npu comes first

    x, weight = _random(ROWS, WIDTH).to(device), _given(_random(WIDTH, seed=1), device)
    kept: list[torch.Tensor] = []

    def keep(row: torch.Tensor) -> torch.Tensor:
        kept.append(row)
        return row.sum()

    torch.func.grad(keep)(x)
    plain = norms.rms_norm(kept[0], (WIDTH,))
    norms.rms_norm(kept[0], (WIDTH,), weight, 1e-6).sum().backward()
    return {"plain": plain, "gradient": weight.grad}


def modules_of_pyaclnn(device: str) -> Results:
    """They load the states of PyTorch's own, and those with a residual norm its sum."""
    torch.manual_seed(0)
    nn = torch.nn
    own: dict[str, Any] = {
        "LayerNorm": nn.LayerNorm(WIDTH),
        "RMSNorm": nn.RMSNorm(WIDTH, 1e-6),
        "GroupNorm": nn.GroupNorm(4, WIDTH),
    }
    for module in own.values():
        nn.init.normal_(module.weight)
    x = _random(ROWS, WIDTH).to(device)
    if device == "cpu":
        found = {name: module(x) for name, module in own.items()}
        return {
            **found,
            "AddRMSNorm": own["RMSNorm"](2 * x),
            "AddLayerNorm": own["LayerNorm"](2 * x),
        }
    torch.npu.set_device(device)
    import pyaclnn.torch  # noqa: PLC0415  # torch-npu comes first

    made: dict[str, Any] = {
        "LayerNorm": pyaclnn.torch.LayerNorm(WIDTH),
        "RMSNorm": pyaclnn.torch.RMSNorm(WIDTH, 1e-6),
        "GroupNorm": pyaclnn.torch.GroupNorm(4, WIDTH),
        "AddRMSNorm": pyaclnn.torch.AddRMSNorm(WIDTH, 1e-6),
        "AddLayerNorm": pyaclnn.torch.AddLayerNorm(WIDTH),
    }
    results: Results = {}
    for name, module in made.items():
        module.load_state_dict(own[name.removeprefix("Add")].state_dict())
        given = (x, x) if name.startswith("Add") else (x,)
        out = module.to(device)(*given)
        results[name] = out[0] if name.startswith("Add") else out
        assert not name.startswith("Add") or torch.equal(out[1], 2 * x)
    return results


def gradients_of_pyaclnn_by_differences(device: str) -> Results:
    if device != "cpu":
        torch.npu.set_device(device)
        from pyaclnn.torch import layer_norm, rms_norm  # noqa: PLC0415  # torch-npu comes first

        given = [_given(_random(*shape, seed=1), device) for shape in ((2, 4), (4,))]
        for norm in (layer_norm, rms_norm):
            options = {"eps": 1e-2, "atol": 2e-2, "rtol": 2e-2}
            assert torch.autograd.gradcheck(lambda x, w, n=norm: n(x, (4,), w), given, **options)
    return {"checked": torch.ones(1)}
