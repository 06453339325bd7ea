# SPDX-License-Identifier: Apache-2.0
"""Calls in PyTorch's names and order mean what they mean in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ops, plan
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.parameters import REQUIRED
from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

f32 = np.float32
DRAWN = np.random.default_rng(7)


def drawn(*shape: int) -> Any:
    return DRAWN.uniform(0.5, 2, shape).astype(f32)


X, W, B, RSTD = drawn(4, 64), drawn(64), drawn(64), drawn(4, 1)
IMAGE, C8, D8, PAIR = drawn(2, 8, 3, 3), drawn(8), drawn(8), drawn(2, 2)
CALLED: Any = ops  # some calls are wrong on purpose
COUNTS, COUNT = np.full(2, 18, f32), np.array([18], np.int32)
PLACES = np.array([1, 2], np.int64)
ALL = [True, True, True]

Given = tuple[tuple[Any, ...], dict[str, Any]]


def c(*values: Any, **names: Any) -> Given:
    return values, names


# An operator; a call in its own names; the same call as PyTorch writes it, in several ways.
CALLS: list[tuple[str, Given, list[Given]]] = [
    (
        "rms_norm",
        c(X, W, 1e-5),
        [
            c(X, (64,), W, 1e-5),
            c(X, [64], weight=W, eps=1e-5),
            c(input=X, normalized_shape=(64,), weight=W, eps=1e-5),
            c(input=X, weight=W, eps=1e-5),
            c(X, 64, W, 1e-5),
        ],
    ),
    ("rms_norm", c(X, W, 2**-23), [c(X, (64,), W), c(X, (64,), W, None), c(X, (64,), weight=W)]),
    ("rms_norm", c(X, W), [c(input=X, weight=W), c(X, W, eps=None), c(X, weight=W)]),
    ("gemma_rms_norm", c(X, W, 1e-5), [c(input=X, weight=W, eps=1e-5)]),
    (
        "rms_norm_grad",
        c(X, X, RSTD, W),
        [c(X, X, (64,), RSTD, W, [True, True]), c(grad_out=X, input=X, rstd=RSTD, weight=W)],
    ),
    ("layer_norm", c(X, 64, W, B, 1e-3), [c(X, (64,), gamma=W, beta=B, epsilon=1e-3)]),
    ("layer_norm_backward", c(X, X, 64, RSTD, RSTD, W, B), [c(X, X, [64], RSTD, RSTD, W, B, ALL)]),
    (
        "group_norm",
        c(IMAGE, 2, C8, D8, 1e-3),
        [c(input=IMAGE, group=2, weight=C8, beta=D8, eps=1e-3)],
    ),
    (
        "group_norm_backward",
        c(IMAGE, IMAGE, PAIR, PAIR, 2, C8),
        [c(IMAGE, IMAGE, PAIR, PAIR, C8, 2, 8, 9, 2, ALL)],
    ),
    ("group_norm_silu", c(IMAGE, 2, C8, D8), [c(IMAGE, C8, D8, 2), c(IMAGE, C8, D8, 2, 1e-5)]),
    (
        "group_norm_swish",
        c(IMAGE, C8, D8, 2),
        [c(IMAGE, 2, C8, D8), c(IMAGE, 2, weight=C8, bias=D8)],
    ),
    ("batch_norm", c(IMAGE, C8, D8, W[:8], B[:8]), [c(IMAGE, C8, D8, gamma=W[:8], beta=B[:8])]),
    ("batch_norm_stats", c(IMAGE, 1e-3), [c(input=IMAGE, epsilon=1e-3)]),
    (
        "batch_norm_gather_stats_with_counts",
        c(IMAGE, drawn(2, 8), drawn(2, 8), COUNTS, C8, D8, 0.2, 1e-3),
        [],
    ),
    (
        "batch_norm_elemt",
        c(IMAGE, C8, D8, None, None, 1e-3),
        [c(IMAGE, invstd=D8, mean=C8, epsilon=1e-3)],
    ),
    (
        "batch_norm_elemt_backward",
        c(IMAGE, IMAGE, C8, D8, C8, D8, COUNT),
        [c(IMAGE, IMAGE, C8, D8, C8, D8, count=COUNT)],
    ),
    ("batch_norm_reduce_backward", c(IMAGE, IMAGE, C8, D8), [c(IMAGE, IMAGE, C8, D8, gamma=None)]),
    (
        "instance_norm",
        c(IMAGE, C8, D8, eps=1e-3),
        [
            c(IMAGE, None, None, C8, D8, True, 0.1, 1e-3),
            c(IMAGE, None, None, weight=C8, bias=D8, eps=1e-3),
            c(IMAGE, weight=C8, bias=D8, eps=1e-3),
            c(IMAGE, weight=C8, bias=D8, use_input_stats=True, momentum=0.5, eps=1e-3),
        ],
    ),
    ("norm", c(X), [c(X, "fro"), c(X, p="fro", dtype=None), c(input=X)]),
    ("norm", c(X, 1.0, 1), [c(X, 1.0, 1, False, None, None), c(X, p=1.0, dim=1)]),
    ("linalg_vector_norm", c(X, 1.0, 1), [c(x=X, ord=1.0, dim=1), c(X, 1.0, 1, False, dtype=None)]),
    ("foreach_norm", c([X, W], 1.0), [c([X, W], ord=1.0), c([X, W], 1.0, None)]),
    ("renorm", c(X, 2.0, 0, 1.0), [c(input=X, p=2.0, dim=0, maxnorm=1.0)]),
    (
        "embedding_renorm",
        c(X.copy(), PLACES, 1.0),
        [c(weight=X.copy(), indices=PLACES, max_norm=1.0, norm_type=2.0)],
    ),
]


def assert_same(expected: Any, found: Any) -> None:
    for one, other in zip(expected, found, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
        elif not isinstance(one, tuple):
            assert repr(one) == repr(other)


def arrays(result: Any) -> list[Any]:
    return [*result] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize(
    ("name", "own", "torch"),
    [(name, own, torch) for name, own, calls in CALLS for torch in calls],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_of_pytorch_gives_what_the_own_call_gives(
    name: str, own: Given, torch: Given
) -> None:
    function = getattr(ops, name)
    assert_same(
        function.prepare(*own[0], **own[1]).arguments,
        function.prepare(*torch[0], **torch[1]).arguments,
    )
    if name != "instance_norm":  # this chip has no kernel of it
        assert_same(arrays(function(*own[0], **own[1])), arrays(function(*torch[0], **torch[1])))


def test_every_operator_that_pytorch_has_is_called_so() -> None:
    of_torch = {name for name, operator in all_operators().items() if operator.torch is not None}
    assert of_torch <= {name for name, _, _ in CALLS}
    assert len(of_torch) == 20


@pytest.mark.parametrize("name", [name for name, op in all_operators().items() if op.torch])
def test_a_signature_of_pytorch_names_parameters_of_the_operator(name: str) -> None:
    operator = all_operators()[name]
    assert operator.torch is not None
    for parameter in operator.torch.parameters:
        for own in filter(None, (parameter.own, parameter.shape_of)):
            assert own in (*operator.positional, *operator.keywords)
    needed = {key for key in operator.positional if key in operator.by_name}
    required = {k for k in needed if getattr(operator.by_name[k], "default", None) is REQUIRED}
    assert required <= {p.own for p in operator.torch.parameters}
    assert str(operator.torch) in " ".join(getattr(ops, name).__doc__.split())


def test_order_of_pytorch_with_arrays_on_a_device_is_launched_and_planned(device: Device) -> None:
    x, w = to_device(X, device), to_device(W, device)
    found = [ops.rms_norm(x, (64,), w, 1e-5), ops.rms_norm(x, (64,), weight=w, eps=1e-5)]
    with plan(ops.rms_norm, x, (64,), w, 1e-5) as ready, plan(ops.rms_norm, x, (64,), w) as other:
        found.append(ready.run())
        other.run()
        device.synchronize()
        for result in found:
            np.testing.assert_array_equal(result.y.numpy(), ops.rms_norm(X, W, 1e-5).y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.rms_norm(X, (32,), W), "'normalized_shape' is (32,); it must be (64,), from"),
        (lambda: ops.rms_norm(X, (64,), eps=1e-5), "'weight' is left out; it must be an array"),
        (lambda: ops.rms_norm(X, (64,)), "'weight' is left out; it must be an array: 'gamma' of"),
        (
            lambda: ops.instance_norm(IMAGE, C8, D8, C8, D8),
            "'running_mean' is an array; it must be",
        ),
        (
            lambda: ops.instance_norm(IMAGE, weight=C8, bias=D8, use_input_stats=False),
            "'use_input_stats' is False; it must be True",
        ),
        (
            lambda: CALLED.norm(X, 2, 1, False, None, "float16"),
            "'dtype' is 'float16'; it must be None",
        ),
        (
            lambda: CALLED.group_norm_backward(IMAGE, IMAGE, PAIR, PAIR, C8, 2, 8, 8, 2, ALL),
            "'HxW' is 8; it must be 9, from the shape of 'input'",
        ),
    ],
)
def test_a_call_of_pytorch_that_cann_cannot_follow_is_refused(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ((IMAGE, W[:8], B[:8], C8[:3], D8[:3]), "'weight' is of shape (3,)"),
        ((IMAGE, None, None, C8, D8, 1e-3), "'mean' is None; it must be a NumPy array"),
    ],
)
def test_what_both_orders_fit_is_the_operators_own(given: Any, refusal: str) -> None:
    """Arrays and None cannot tell the orders apart, so the refusal names the other one."""
    with pytest.raises(InvalidArgumentError) as caught:
        ops.batch_norm_elemt(*given)
    assert refusal in str(caught.value)
    torch = "torch.batch_norm_elemt(input, weight, bias, mean, invstd, eps)"
    hint = f"the arguments fit {torch} as well: if that is meant, name them."
    assert str(caught.value).endswith(f"\nHint: {hint}")


def test_pytorch_computes_the_same(torch: Any) -> None:
    functional = torch.nn.functional
    x, w, image, scale = map(torch.from_numpy, (X / 1000, W, IMAGE, C8))
    cases = [
        (ops.rms_norm(x, (64,), w).y, functional.rms_norm(x, (64,), w)),
        (ops.group_norm(image, 2, scale).out, functional.group_norm(image, 2, scale)),
        (ops.norm(x, "fro"), torch.norm(x, "fro")),
    ]
    for found, expected in cases:
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-6)


class Printed(np.ndarray[Any, Any]):
    """An array that counts how often it became text."""

    times = 0

    def __str__(self) -> str:
        Printed.times += 1
        return super().__str__()


def test_no_array_becomes_text() -> None:
    x, weight = (array.view(Printed) for array in (X, W))
    assert "1" in str(weight)
    ops.rms_norm(x, (64,), weight, 1e-5)
    assert Printed.times == 1
