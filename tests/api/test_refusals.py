# SPDX-License-Identifier: Apache-2.0
"""Bad input is refused on the host, before any C call, by the whole message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.cann import gate
from pyaclnn.ops import (
    instance_norm,
    layer_norm,
    layer_norm_backward,
    linalg_vector_norm,
    rms_norm,
    rms_norm_grad,
)
from pyaclnn.runtime.handle import live_handles

if TYPE_CHECKING:
    from collections.abc import Callable

f16, f32, f64 = np.float16, np.float32, np.float64


def z(*shape: int, dtype: Any = f32) -> Any:
    return np.zeros(shape, dtype)


def lnb(**changes: Any) -> Any:
    """Call layer_norm_backward correctly but for the changes."""
    good: dict[str, Any] = {
        "grad_out": z(2, 3, 4),
        "input": z(2, 3, 4),
        "normalized_shape": (4,),
        "mean": z(2, 3),
        "rstd": z(2, 3),
        "weight": z(4),
        "bias": z(4),
    }
    return layer_norm_backward(**{**good, **changes})


def rng(**changes: Any) -> Any:
    """Call rms_norm_grad correctly but for the changes."""
    good: dict[str, Any] = {"dy": z(2, 3, 4), "x": z(2, 3, 4), "rstd": z(2, 3), "gamma": z(4)}
    return rms_norm_grad(**{**good, **changes})


def converted(name: str, dtype: str = "float32") -> str:
    return f".\nHint: convert it: {name}.astype(np.{dtype})."


def floats(name: str) -> str:
    return f"it must be float32 or float16 or bfloat16{converted(name)}"


READ_ONLY = z(2, 3, 4)
READ_ONLY.flags.writeable = False
SELF_OVERLAPPING = np.lib.stride_tricks.as_strided(z(4), (2, 3, 4), (0, 0, 4))
SHARED = z(2, 3, 4)

TABLE: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: layer_norm(z(2, 4, dtype=f64), 4),
        f"layer_norm(): 'input' is float64; {floats('input')}",
    ),
    (
        lambda: layer_norm(z(2, 4, dtype=int), 4),
        f"layer_norm(): 'input' is int64; {floats('input')}",
    ),
    (
        lambda: layer_norm([1.0], 1),  # type: ignore[call-overload]  # that it is a list is the point
        (
            "layer_norm(): 'input' is a list; it must be a NumPy array or a DeviceArray.\n"
            "Hint: make one: np.asarray(input, np.float32)."
        ),
    ),
    (
        lambda: layer_norm(z(2, 4), 4, z(4, dtype=f16)),
        "layer_norm(): 'weight' is float16; it must be float32, as 'input' is float32"
        + converted("weight"),
    ),
    (
        lambda: layer_norm(z(2, 4, dtype=f16), 4, z(4, dtype=f16), z(4)),
        "layer_norm(): 'bias' is float32; it must be float16, the dtype of 'weight'"
        + converted("bias", "float16"),
    ),
    (
        lambda: layer_norm(z(2, 4), (2, 3)),
        (
            "layer_norm(): 'normalized_shape' is (2, 3); it must be (2, 4), the trailing axes of "
            "'input', whose shape is (2, 4)."
        ),
    ),
    (
        lambda: layer_norm(z(2, 4), ()),
        (
            "layer_norm(): 'normalized_shape' is (); it must be 1 to 2 lengths, the trailing axes "
            "of 'input', whose shape is (2, 4)."
        ),
    ),
    (
        lambda: layer_norm(z(4), (2, 2)),
        (
            "layer_norm(): 'normalized_shape' is (2, 2); it must be 1 to 1 lengths, the trailing "
            "axes of 'input', whose shape is (4,)."
        ),
    ),
    (
        lambda: layer_norm(z(*[1] * 9), 1),
        (
            "layer_norm(): 'input' is of shape (1, 1, 1, 1, 1, 1, 1, 1, 1), with 9 axes; it must "
            "be an array of 1 to 8 axes."
        ),
    ),
    (
        lambda: layer_norm(z(2, 4), 4, z(3)),
        "layer_norm(): 'weight' is of shape (3,); it must be of shape (4,), the normalized shape.",
    ),
    (
        lambda: layer_norm(z(2, 4), 4, eps=float("nan")),
        "layer_norm(): 'eps' is nan; it must be a finite number, 0 or more.",
    ),
    (
        lambda: layer_norm(z(2, 4), 4, out=(z(2, 4), z(2))),
        (
            "layer_norm(): 'out' is a tuple of 2; it must be a tuple of 3, arrays or None: out, "
            "mean, rstd."
        ),
    ),
    (
        lambda: layer_norm(z(2, 4), 4, out=z(2, 4)),
        (
            "layer_norm(): 'out' is an ndarray; it must be a tuple of 3, arrays or None: "
            "out, mean, rstd.\nHint: write out=(array, None, None) for out alone."
        ),
    ),
    (
        lambda: layer_norm(z(2, 4), 4, stream=7),  # type: ignore[call-overload]  # no stream
        (
            "layer_norm(): 'stream' is 7 (int); it must be an open Stream, or None.\n"
            "Hint: a stream of another library can be used through Stream.borrow(handle)."
        ),
    ),
    # The hole in CANN's own check: a wrong normalized_shape of fewer axes than half of the input's.
    (
        lambda: lnb(normalized_shape=3, weight=None, bias=None, output_mask=(True, False, False)),
        (
            "layer_norm_backward(): 'normalized_shape' is (3,); it must be (4,), the trailing axes "
            "of 'input', whose shape is (2, 3, 4)."
        ),
    ),
    (
        lambda: lnb(grad_out=z(2, 3, 4, dtype=f16)),
        "layer_norm_backward(): 'grad_out' is float16; it must be float32, the dtype of 'input'"
        + converted("grad_out"),
    ),
    (
        lambda: lnb(grad_out=z(2, 4, 3)),
        (
            "layer_norm_backward(): 'grad_out' is of shape (2, 4, 3); it must be of shape (2, 3, "
            "4), the shape of 'input'."
        ),
    ),
    (
        lambda: lnb(mean=z(2, 3, dtype=f64)),
        f"layer_norm_backward(): 'mean' is float64; {floats('mean')}",
    ),
    (
        lambda: lnb(rstd=z(2, 3, dtype=int)),
        f"layer_norm_backward(): 'rstd' is int64; {floats('rstd')}",
    ),
    (
        lambda: lnb(mean=z(5), rstd=z(5)),
        (
            "layer_norm_backward(): 'mean' is of shape (5,); it must be of 6 elements, one for "
            "each row of 'input' ((2, 3) without the normalized axes)."
        ),
    ),
    (
        lambda: lnb(rstd=z(6)),
        (
            "layer_norm_backward(): 'rstd' is of shape (6,); it must be of shape (2, 3), the shape "
            "of 'mean'."
        ),
    ),
    (
        lambda: lnb(mean=None),
        "layer_norm_backward(): 'mean' is None; it must be a NumPy array or a DeviceArray.",
    ),
    (
        lambda: lnb(bias=z(4, dtype=int)),
        f"layer_norm_backward(): 'bias' is int64; {floats('bias')}",
    ),
    (
        lambda: lnb(output_mask=(True, False)),
        (
            "layer_norm_backward(): 'output_mask' is (True, False); it must be three booleans, one "
            "for each gradient."
        ),
    ),
    (
        lambda: lnb(output_mask=(1, 0, 1)),
        (
            "layer_norm_backward(): 'output_mask' is (1, 0, 1); it must be three booleans, one for "
            "each gradient.\nHint: write (True, False, True)."
        ),
    ),
    (
        lambda: lnb(output_mask=(False, True, True), out=(z(2, 3, 4), None, None)),
        (
            "layer_norm_backward(): 'out: grad_input' is an array; it must be None, because "
            "output_mask leaves it out."
        ),
    ),
    (
        lambda: lnb(out=(z(2, 3, 4, dtype=f16), None, None)),
        (
            "layer_norm_backward(): 'out: grad_input' is float16 of shape (2, 3, 4); it must be "
            "float32 of shape (2, 3, 4)."
        ),
    ),
    (
        lambda: lnb(out=(None, z(4, dtype=f16), None)),
        (
            "layer_norm_backward(): 'out: grad_weight' is float16 of shape (4,); it must be "
            "float32 of shape (4,)."
        ),
    ),
    (
        lambda: lnb(out=(None, None, z(2, 2))),
        (
            "layer_norm_backward(): 'out: grad_bias' is float32 of shape (2, 2); it must be "
            "float32 of shape (4,)."
        ),
    ),
    (
        lambda: lnb(out=(READ_ONLY, None, None)),
        "layer_norm_backward(): 'out: grad_input' is read-only; it must be writable.",
    ),
    (
        lambda: lnb(out=(SELF_OVERLAPPING, None, None)),
        (
            "layer_norm_backward(): 'out: grad_input' is an array that overlaps itself (strides "
            "(0, 0, 4)); it must be an array whose elements lie apart."
        ),
    ),
    (
        lambda: lnb(input=SHARED, out=(SHARED, None, None)),
        (
            "layer_norm_backward(): 'out: grad_input' is an array that shares memory with 'input'; "
            "it must be an array apart from all others."
        ),
    ),
    (
        lambda: lnb(out=(None, SHARED[0, 0], SHARED[0, 0])),
        (
            "layer_norm_backward(): 'out: grad_weight' is an array that shares memory with "
            "'out: grad_bias'; it must be an array apart from all others."
        ),
    ),
    (lambda: rms_norm(z(4, dtype=f64), z(4)), f"rms_norm(): 'x' is float64; {floats('x')}"),
    (
        lambda: rms_norm(z(2, 4, dtype=f16), z(4, dtype=f64)),
        "rms_norm(): 'gamma' is float64; it must be float32 or float16, as 'x' is float16"
        + converted("gamma"),
    ),
    (
        lambda: rms_norm(z(2, 4), z(2)),
        (
            "rms_norm(): 'gamma' is of shape (2,); it must be of the shape of trailing axes of "
            "'x', whose shape is (2, 4)."
        ),
    ),
    (
        lambda: rms_norm(z(2, 4), z()),
        "rms_norm(): 'gamma' is of shape (), with 0 axes; it must be an array of 1 to 8 axes.",
    ),
    (
        lambda: rms_norm(z(2, 4), z(4), -1e-6),
        "rms_norm(): 'epsilon' is -1e-06; it must be a finite number, 0 or more.",
    ),
    (
        lambda: linalg_vector_norm(z(2, 3), dim=(2,)),  # the first axis that is not there
        "linalg_vector_norm(): 'dim' is (2,); it must be axes from -2 to 1.",
    ),
    (
        lambda: linalg_vector_norm(z(2, 3), dim=(-3,)),
        "linalg_vector_norm(): 'dim' is (-3,); it must be axes from -2 to 1.",
    ),
    (
        lambda: linalg_vector_norm(z(2, 3), dim=(1, -1)),
        "linalg_vector_norm(): 'dim' is (1, -1); it must be each axis once.",
    ),
    (
        lambda: instance_norm(z(1, 2, 3, 3), z(2), z(2), data_format="CHWN"),
        "instance_norm(): 'data_format' is 'CHWN'; it must be 'NCHW' or 'NHWC'.",
    ),
    (
        lambda: instance_norm(z(1, 2, 3, 3), z(2), z(2), data_format=0),  # type: ignore[call-overload]  # no text
        "instance_norm(): 'data_format' is 0; it must be 'NCHW' or 'NHWC'.",
    ),
    (
        lambda: layer_norm(z(2, 4), 4, eps=True),
        "layer_norm(): 'eps' is True; it must be a finite number, 0 or more.",
    ),
    (
        lambda: layer_norm(z(2, 4), 4, eps="1e-5"),  # type: ignore[call-overload]  # no number
        "layer_norm(): 'eps' is '1e-5'; it must be a finite number, 0 or more.",
    ),
    (
        lambda: layer_norm(z(2, 4), 4, eps=10**400),
        ("layer_norm(): 'eps' is an integer of 1329 bits; it must be a finite number, 0 or more."),
    ),
    (
        lambda: rms_norm(z(2, 4), z(4), 1e39),
        (
            "rms_norm(): 'epsilon' is 1e+39; it must be at most 3.402823e+38, the largest float32: "
            "operators compute with that."
        ),
    ),
    (
        lambda: rms_norm(np.ma.array(z(2, 4), mask=True), z(4)),
        (
            "rms_norm(): 'x' is a MaskedArray; it must be a NumPy array or a DeviceArray.\n"
            "Hint: its mask would be ignored: fill it with .filled(), or take .data as it is."
        ),
    ),
    (
        lambda: rms_norm(z(2, 4), z(4), out=(np.ma.array(z(2, 4)), None)),
        (
            "rms_norm(): 'out: y' is a MaskedArray; it must be a NumPy array or a DeviceArray.\n"
            "Hint: its mask would be ignored: fill it with .filled(), or take .data as it is."
        ),
    ),
    (
        lambda: rng(dy=z(2, 3, 4, dtype=f16)),
        "rms_norm_grad(): 'dy' is float16; it must be float32, the dtype of 'x'" + converted("dy"),
    ),
    (
        lambda: rng(dy=z(3, 2, 4)),
        (
            "rms_norm_grad(): 'dy' is of shape (3, 2, 4); it must be of shape (2, 3, 4), the shape "
            "of 'x'."
        ),
    ),
    (
        lambda: rng(rstd=z(2, 3, dtype=f16)),
        "rms_norm_grad(): 'rstd' is float16; it must be float32" + converted("rstd"),
    ),
    (
        lambda: rng(rstd=z(2)),
        (
            "rms_norm_grad(): 'rstd' is of shape (2,); it must be of shape (2, 3), the axes of 'x' "
            "that 'gamma' does not have; ones may follow or be left out at the end."
        ),
    ),
    (
        lambda: rng(rstd=z(2, 3, 2)),
        (
            "rms_norm_grad(): 'rstd' is of shape (2, 3, 2); it must be of shape (2, 3), the axes "
            "of 'x' that 'gamma' does not have; ones may follow or be left out at the end."
        ),
    ),
    (
        lambda: rng(out=(None, z(4, dtype=f16))),
        (
            "rms_norm_grad(): 'out: dgamma' is float16 of shape (4,); it must be float32 of shape "
            "(4,)."
        ),
    ),
]


@pytest.mark.parametrize(("action", "message"), TABLE, ids=range(len(TABLE)))
def test_the_host_refuses_and_says_what_was_wrong_and_what_would_be_right(
    action: Callable[[], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_call(*_: object) -> None:
        pytest.fail("CANN was called")

    before = live_handles()
    monkeypatch.setattr(gate, "_resolve", no_call)
    with pytest.raises(InvalidArgumentError) as caught:
        action()
    assert str(caught.value) == message
    assert caught.value.code is None
    assert live_handles() == before


@pytest.mark.parametrize(("axis", "norms"), [(0, [3, 5]), (-2, [3, 5]), (1, [5, 3]), (-1, [5, 3])])
def test_every_axis_that_is_there_is_accepted_from_either_end(axis: int, norms: list[int]) -> None:
    x = np.array([[0, 5], [3, 0]], np.float32)
    assert linalg_vector_norm(x, dim=(axis,)).tolist() == norms
