# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs that run on the NPU and on the CPU: every public function is a case.

A case takes the device and gives what the two must agree on, by name. It runs in a process of its
own that `zygote` has forked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    Results = dict[str, torch.Tensor]

ROWS, WIDTH = 6, 48


def _random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=chance).to(dtype)


def _given(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """A leaf on the device."""
    return tensor.to(device).requires_grad_()


def _backward(
    module: Callable[..., torch.Tensor], device: str, *given: torch.Tensor
) -> dict[str, torch.Tensor]:
    """The result of a function and its gradients, the gradient of the result being given."""
    leaves = [_given(tensor, device) for tensor in given]
    out = module(*leaves)
    out.backward(_random(*out.shape, dtype=out.dtype, seed=9).to(device))
    return {"out": out, **{f"gradient {i}": leaf.grad for i, leaf in enumerate(leaves)}}


def layer_norm(device: str) -> Results:
    norm = torch.nn.functional.layer_norm
    weights = 1 + _random(WIDTH, seed=1), _random(WIDTH, seed=2)
    return _backward(
        lambda x, w, b: norm(x, (WIDTH,), w, b), device, _random(ROWS, WIDTH), *weights
    )


def layer_norm_of_a_module(device: str) -> Results:
    module = torch.nn.LayerNorm((4, 12)).to(device)
    found = _backward(module, device, _random(2, ROWS, 4, 12))
    return {**found, "weight": module.weight.grad, "bias": module.bias.grad}


def layer_norm_of_a_view(device: str) -> Results:
    x = _random(WIDTH, ROWS).to(device).t()
    return {"out": torch.nn.functional.layer_norm(x, (WIDTH,))}


def layer_norm_in_float16(device: str) -> Results:
    return {
        "out": torch.nn.LayerNorm(WIDTH).half().to(device)(_random(ROWS, WIDTH).half().to(device))
    }


def layer_norm_in_bfloat16(device: str) -> Results:
    x = _random(ROWS, WIDTH, dtype=torch.bfloat16).to(device)
    return {"out": torch.nn.LayerNorm(WIDTH, dtype=torch.bfloat16).to(device)(x)}


def rms_norm(device: str) -> Results:
    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if x.device.type == "cpu":
            return torch.nn.functional.rms_norm(x, (WIDTH,), weight, 1e-6)
        import torch_npu  # noqa: PLC0415  # there is none of it on the CPU

        return torch_npu.npu_rms_norm(x, weight, 1e-6)[0]

    return _backward(norm, device, _random(ROWS, WIDTH), _random(WIDTH, seed=1))


def copies_and_streams(device: str) -> Results:
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"there and back": x, "normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side, start, end = torch.npu.Stream(), torch.npu.Event(True), torch.npu.Event(True)
    pinned = x.pin_memory()
    with torch.npu.stream(side):
        start.record()
        there = pinned.to(device, non_blocking=True)
        end.record()
    torch.npu.current_stream().wait_event(end)
    normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    back = there.clone().to("npu:1").cpu()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) >= 0
    return {"there and back": back, "normed": normed}


def losses(device: str) -> Results:
    found: Results = {}
    for name in ("l1_loss", "mse_loss", "smooth_l1_loss"):
        x = _given(_random(ROWS, WIDTH), device)
        loss = getattr(torch.nn.functional, name)(x, _random(ROWS, WIDTH, seed=3).to(device))
        loss.backward()
        found |= {name: loss, f"gradient of {name}": x.grad}
    return found


def cross_entropy(device: str) -> Results:
    x = _given(_random(ROWS, WIDTH), device)
    loss = torch.nn.functional.cross_entropy(x, torch.arange(ROWS).to(device))
    loss.backward()
    return {"loss": loss, "gradient": x.grad}


def reductions(device: str) -> Results:
    x = _random(ROWS, WIDTH).to(device)
    found = {name: getattr(x, name)() for name in ("sum", "mean", "max", "min")}
    rows = {f"{name} of rows": getattr(x, name)(1, True) for name in ("sum", "mean")}
    return {**found, **rows, "all": (x < 99).all(), "any": (x > 99).any()}


def gradients_of_sums_and_means(device: str) -> Results:
    found = {}
    for name in ("sum", "mean"):
        x = _given(_random(ROWS, WIDTH), device)
        getattr(torch.nn.functional.layer_norm(x, (WIDTH,)) ** 2, name)().backward()
        found[name] = x.grad
    return found


def layer_norm_in_bfloat16_backward(device: str) -> Results:
    norm = torch.nn.functional.layer_norm
    kind = torch.bfloat16
    given = [_random(*shape, dtype=kind) for shape in ((ROWS, WIDTH), (WIDTH,), (WIDTH,))]
    return _backward(lambda x, w, b: norm(x, (WIDTH,), w, b), device, *given)


def rms_norm_of_pytorch(device: str) -> Results:
    norm = torch.nn.functional.rms_norm
    given = _random(ROWS, WIDTH), _random(WIDTH, seed=1)
    return _backward(lambda x, w: norm(x, (WIDTH,), w, 1e-6), device, *given)


def group_norm_of_a_module(device: str) -> Results:
    module = torch.nn.GroupNorm(4, 8).to(device)
    found = _backward(module, device, _random(2, 8, 5, 3))
    return {**found, "weight": module.weight.grad, "bias": module.bias.grad}


def batch_norm_of_a_module(device: str) -> Results:
    module = torch.nn.BatchNorm2d(8).to(device)
    found = _backward(module, device, _random(2, 8, 5, 3))
    statistics = {"mean": module.running_mean, "variance": module.running_var}
    return {**found, **statistics, "weight": module.weight.grad, "bias": module.bias.grad}


def linear(device: str) -> Results:
    given = _random(ROWS, WIDTH), _random(8, WIDTH, seed=1), _random(8, seed=2)
    return _backward(torch.nn.functional.linear, device, *given)


def gelu(device: str) -> Results:
    return _backward(torch.nn.functional.gelu, device, _random(ROWS, WIDTH))


def copies_of_views_and_casts(device: str) -> Results:
    x = _random(ROWS, WIDTH).to(device)
    torch._foreach_copy_([narrow := torch.empty_like(x, dtype=torch.bfloat16)], [x])
    return {
        "transposed": x.t().contiguous(),
        "float16": x.half(),
        "several to bfloat16": narrow,
        "integers": (x * 4).int(),
        "part": x[1::2, ::3].clone(),
        "stacked": torch.stack([x, x]),
    }


def comparisons(device: str) -> Results:
    x = _random(ROWS, WIDTH).to(device)
    near = x + 1e-9
    return {"close": torch.tensor(torch.allclose(x, near)), "equal": torch.tensor(x.equal(x + 1))}


def printing(device: str) -> Results:
    text = str(_random(2, 3).to(device)).replace(", device='npu:0'", "")
    return {"text": torch.tensor(bytearray(text.encode()))}


def _trained(device: str, optimizer: str, clip: float | None = None, **options: object) -> Results:
    """The weights and the losses of a few steps; the weights are the same on every device."""
    torch.manual_seed(0)
    layers = (
        torch.nn.LayerNorm(16),
        torch.nn.Linear(16, 32),
        torch.nn.GELU(),
        torch.nn.Linear(32, 4),
    )
    model = torch.nn.Sequential(*layers).to(device)
    steps = getattr(torch.optim, optimizer)(model.parameters(), **options)
    x, wanted = _random(20, 16).to(device), _random(20, 4, seed=5).to(device)
    found = []
    for _ in range(4):
        steps.zero_grad()
        loss = ((model(x) - wanted) ** 2).mean()
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        steps.step()
        found.append(loss.detach().cpu())
    return {**dict(model.named_parameters()), "losses": torch.stack(found)}


def training_with_sgd(device: str) -> Results:
    return _trained(device, "SGD", lr=0.1)


def training_with_momentum(device: str) -> Results:
    return _trained(device, "SGD", lr=0.1, momentum=0.9, weight_decay=0.01)


def training_with_adamw(device: str) -> Results:
    return _trained(device, "AdamW", lr=1e-2)


def training_with_adam_one_by_one(device: str) -> Results:
    return _trained(device, "Adam", lr=1e-2, foreach=False)


def training_with_clipped_gradients(device: str) -> Results:
    return _trained(device, "SGD", clip=0.1, lr=0.1)


def graph_replayed_on_other_inputs(device: str) -> Results:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.LayerNorm(16), torch.nn.Linear(16, 8)).to(device)
    inputs = [_random(4, 16, seed=seed) for seed in range(3)]
    with torch.no_grad():
        if device == "cpu":
            return {str(i): model(x) for i, x in enumerate(inputs)}
        graph, given = torch.npu.NPUGraph(), torch.zeros(4, 16).to(device)
        model(given)
        with torch.npu.graph(graph):
            out = model(given)
        found = {}
        for i, x in enumerate(inputs):
            given.copy_(x)
            graph.replay()
            found[str(i)] = out.cpu()
    return found


def graphs_of_both_directions(device: str) -> Results:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.LayerNorm(16), torch.nn.Linear(16, 8)).to(device)
    graphed = model
    if device == "npu":
        graphed = torch.npu.make_graphed_callables(model, (_given(_random(4, 16), device),))
    model.zero_grad()
    x = _given(_random(4, 16, seed=3), device)
    out = graphed(x)
    (out * out).sum().backward()
    return {"out": out, "x": x.grad, **{k: v.grad for k, v in model.named_parameters()}}


def wrong_wait_inside_a_capture(device: str) -> Results:
    """Captured work does not run, so waiting for it is an error."""
    x = _random(ROWS, WIDTH).to(device)
    if device == "npu":
        try:
            with torch.npu.graph(torch.npu.NPUGraph()):
                torch.nn.functional.layer_norm(x, (WIDTH,))
                torch.npu.synchronize()
        except RuntimeError:
            pass
    return {"x": x}


def wrong_without_an_event(device: str) -> Results:
    """One stream reads what another one still writes."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side = torch.npu.Stream()
    there = x.pin_memory().to(device, non_blocking=True)
    with torch.npu.stream(side):
        normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    torch.npu.synchronize()
    return {"normed": normed}


def wrong_memory_given_back(device: str) -> Results:
    """Memory that a stream still reads goes back to where the next tensor comes from."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side = torch.npu.Stream()
    there = x.to(device)
    with torch.npu.stream(side):
        normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    del there  # without record_stream
    torch.nn.functional.layer_norm(_random(ROWS, WIDTH, seed=1).to(device), (WIDTH,))
    torch.npu.synchronize()
    return {"normed": normed}


def layer_norm_under_the_profiler(device: str) -> Results:
    with torch.profiler.profile() as profile:
        out = torch.nn.functional.layer_norm(_random(ROWS, WIDTH).to(device), (WIDTH,))
    assert profile.events()
    return {"out": out}


def indexing(device: str) -> Results:
    x, rows = _random(3, 4, 5).to(device), torch.tensor([0, 2]).to(device)
    y = x.clone().requires_grad_()
    (y[:, rows].sum() + (y[rows, :, rows] ** 2).sum() + y[..., 1:3, [0, 3]].sum()).backward()
    z = x.clone()
    z[:, rows] = 0
    z[z > 1] = 7
    none = torch.zeros(4, dtype=torch.bool).to(device)
    z[:, none] = 8
    z[none[:3]] = x[0]
    return {
        "second axis": x[:, rows],
        "no place": x[:, none].sum(1),
        "mask of an axis": x[:, (_random(4) > 0).to(device)],
        "with a gap": x[rows, :, rows],
        "written": z,
        "gradient": y.grad,
    }


def scalars_along_an_axis(device: str) -> Results:
    x, place = torch.tensor(3.0).to(device), torch.tensor([0]).to(device)
    found = {name: getattr(x, name)(0) for name in ("cumsum", "cumprod", "argmax", "softmax")}
    return {
        **found,
        "selected": x.index_select(0, place),
        "added": x.index_add(0, place, torch.tensor(2.0).to(device)),
        "filled": x.index_fill(0, place, 2.0),
        "median": x.median(0).values,
        "flipped": x.flip(0),
    }


def random_numbers(device: str) -> Results:
    """A seed repeats them; the numbers themselves are others than those of the CPU."""
    draws: dict[str, Callable[[], torch.Tensor]] = {
        "uniform": lambda: torch.rand(64, device=device),
        "normal": lambda: torch.randn(64, device=device),
        "integers": lambda: torch.randint(0, 9, (64,), device=device),
        "exponential": lambda: torch.empty(64, device=device).exponential_(),
    }
    found: Results = {}
    for name, draw in draws.items():
        torch.manual_seed(7)
        first, second = draw(), draw()
        torch.manual_seed(7)
        found[name] = torch.stack([(draw() == first).all(), (second != first).any()])
    return found


def results_that_nobody_asks_for(device: str) -> Results:
    """PyTorch gives tensors without elements for them."""
    numbers = torch.tensor([3, 1, 1, 3, 3]).to(device)
    x, words = _random(3, 4).to(device), torch.tensor([0, 1, 2, 1]).to(device)
    starts = torch.tensor([0, 2]).to(device)
    bags = torch.nn.functional.embedding_bag(words, _random(5, 3).to(device), starts, mode="sum")
    bce = torch.nn.functional.binary_cross_entropy_with_logits
    return {
        "unique": numbers.unique(),
        "of nothing": torch.tensor(torch.zeros(0, 3).to(device).unique().shape),
        "runs": numbers.unique_consecutive(),
        "log of sigmoid": torch.nn.functional.logsigmoid(x),
        "bags": bags,
        "binary": bce(x, torch.ones(3, 4).to(device)),
    }


def windows_with_padding(device: str) -> Results:
    functional = torch.nn.functional
    x, y = _given(_random(2, 3, 6, 6), device), _given(_random(1, 2, 4, 4), device)
    columns = functional.unfold(x, 3, padding=1)
    weight = _random(2, 2, 3, 3, seed=1).to(device)
    out = functional.conv_transpose2d(y, weight, stride=2, dilation=3, output_padding=2)
    (columns.square().sum() + out.square().sum()).backward()
    empty = functional.conv2d(torch.zeros(0, 2, 4, 4).to(device), weight)
    folded = functional.fold(columns, (6, 6), 3, padding=1)
    return {
        "folded": folded,
        "out": out,
        "empty": torch.tensor(empty.shape),
        "x": x.grad,
        "y": y.grad,
    }
