# SPDX-License-Identifier: Apache-2.0
"""The numeric smoke test: does every operator compute the right numbers on this backend?

Each operator runs over a few shapes and dtypes, on outputs filled with NaN first. What comes back
is held against the reference evaluated in float64, by CANN's published accuracy standard.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pyaclnn import ops, reference
from pyaclnn.accuracy import judge
from pyaclnn.array import DeviceArray, to_device
from pyaclnn.call import OUT, fetch
from pyaclnn.errors import AclError
from pyaclnn.raw import ACL_CANN_ATTR_BF16
from pyaclnn.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyaclnn.device import Device

__all__ = ["Case", "Outcome", "cases", "run"]

Host: TypeAlias = NDArray[Any]

_SHAPES = ((4, 64), (3, 5, 257), (128, 1024))
_FLOATS = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
_SEED = 20240521


@dataclass(frozen=True)
class Case:
    """One operator on one shape and dtype.

    Attributes:
        operator: The public function.
        shape: The shape of the input; its last axis is normalized.
        dtype: The dtype of the input.
    """

    operator: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Outcome:
    """What became of one output of a case.

    Attributes:
        operator: The public function.
        output: The output, e.g. ``grad_weight``.
        shape: The shape of the case's input.
        dtype: The dtype of the case's input.
        passed: Whether the standard is met.
        max_abs_error: Largest absolute error, NaN if the call failed.
        limit: The largest absolute error the standard allows there.
        matched_ratio: Share of elements within tolerance, 0 if the call failed.
        verdict: The verdict in one line, or the error of the call.
    """

    operator: str
    output: str
    shape: tuple[int, ...]
    dtype: str
    passed: bool
    max_abs_error: float
    limit: float
    matched_ratio: float
    verdict: str

    def as_dict(self) -> dict[str, object]:
        """The outcome as plain data."""
        return asdict(self)


def cases(device: Device) -> list[Case]:
    """List the cases that a device's chip supports: bfloat16 only where CANN says so.

    Args:
        device: An open device.
    """
    with device.active():
        has_bfloat16 = fetch("aclGetCannAttribute", ACL_CANN_ATTR_BF16, OUT) == 1
    dtypes = [d for d in _FLOATS if has_bfloat16 or d != ml_dtypes.bfloat16]
    return [Case(name, shape, dtype) for name in _CHECKS for dtype in dtypes for shape in _SHAPES]


def run(case: Case, device: Device) -> Iterator[Outcome]:
    """Run one case.

    Args:
        case: What to run.
        device: Where.

    Yields:
        One outcome for each output; a single failed one if the call itself fails.
    """
    make = functools.partial(
        Outcome, operator=case.operator, shape=case.shape, dtype=str(case.dtype)
    )
    check = _CHECKS[case.operator]
    inputs = _inputs(case)
    golden = check.golden(**{name: value.astype(np.float64) for name, value in inputs.items()})
    try:
        actual = _compute(check.call, inputs, _poisoned(golden._asdict(), case.dtype), device)
    except AclError as error:
        yield make(
            output="-",
            passed=False,
            max_abs_error=np.nan,
            limit=np.nan,
            matched_ratio=0.0,
            verdict=str(error),
        )
        return
    for name, value in actual.items():
        verdict = judge(value, getattr(golden, name), _standard(case, value.dtype))
        yield make(
            output=name,
            passed=verdict.passed,
            max_abs_error=verdict.max_abs_error,
            limit=verdict.limit,
            matched_ratio=verdict.matched_ratio,
            verdict=str(verdict),
        )


@dataclass(frozen=True)
class _Check:
    """How to call one operator on device arrays, and how to compute its golden values."""

    call: Callable[..., object]
    golden: Callable[..., Any]


def _layer_norm_golden(input: Host, weight: Host, bias: Host) -> Any:
    return reference.layer_norm(input, input.shape[-1:], weight, bias)


def _layer_norm_backward_golden(
    grad_out: Host, input: Host, mean: Host, rstd: Host, weight: Host
) -> Any:
    return reference.layer_norm_backward(grad_out, input, input.shape[-1:], mean, rstd, weight)


def _layer_norm_call(
    input: DeviceArray, weight: DeviceArray, bias: DeviceArray, **how: Any
) -> None:
    ops.layer_norm(input, input.shape[-1:], weight, bias, **how)


def _layer_norm_backward_call(
    grad_out: DeviceArray,
    input: DeviceArray,
    mean: DeviceArray,
    rstd: DeviceArray,
    weight: DeviceArray,
    **how: Any,
) -> None:
    ops.layer_norm_backward(grad_out, input, input.shape[-1:], mean, rstd, weight, **how)


_CHECKS: Mapping[str, _Check] = {
    "layer_norm": _Check(_layer_norm_call, _layer_norm_golden),
    "layer_norm_backward": _Check(_layer_norm_backward_call, _layer_norm_backward_golden),
    "rms_norm": _Check(ops.rms_norm, reference.rms_norm),
    "rms_norm_grad": _Check(ops.rms_norm_grad, reference.rms_norm_grad),
}


def _inputs(case: Case) -> dict[str, Host]:
    """Random inputs; statistics are those of the data, in float32 as the operators take them."""
    random = np.random.default_rng(_SEED)

    def normal(*shape: int) -> Host:
        return random.normal(0.5, 1.5, shape).astype(case.dtype)

    data, last = normal(*case.shape), case.shape[-1]
    if case.operator == "layer_norm":
        return {"input": data, "weight": normal(last), "bias": normal(last)}
    if case.operator == "rms_norm":
        return {"x": data, "gamma": normal(last)}
    exact = data.astype(np.float64)
    if case.operator == "rms_norm_grad":
        rstd = reference.rms_norm(exact, np.ones(last)).rstd.astype(np.float32)
        return {"dy": normal(*case.shape), "x": data, "rstd": rstd, "gamma": normal(last)}
    statistics = reference.layer_norm(exact, case.shape[-1:])
    return {
        "grad_out": normal(*case.shape),
        "input": data,
        "mean": statistics.mean.astype(np.float32),
        "rstd": statistics.rstd.astype(np.float32),
        "weight": normal(last),
    }


def _poisoned(golden: Mapping[str, Host], dtype: np.dtype[Any]) -> dict[str, Host]:
    """Outputs full of NaN: in the input's dtype where they have its role, else float32."""
    of_input = {"out", "y", "grad_input", "dx"}
    return {
        name: np.full(value.shape, np.nan, dtype if name in of_input else np.float32)
        for name, value in golden.items()
    }


def _standard(case: Case, own_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype by which an output is judged.

    CANN's LayerNorm kernel produces mean and rstd in the dtype of the weight and widens them
    afterwards (CANN: ops-nn norm/layer_norm_v4), so they are only as exact as that.
    """
    return case.dtype if case.operator == "layer_norm" else own_dtype


def _compute(
    call: Callable[..., object],
    inputs: Mapping[str, Host],
    outputs: Mapping[str, Host],
    device: Device,
) -> dict[str, Host]:
    with Stream(device) as stream:
        arrays = {name: to_device(value, device) for name, value in inputs.items()}
        results = {name: to_device(value, device) for name, value in outputs.items()}
        call(**arrays, out=tuple(results.values()), stream=stream)
        stream.synchronize()
        return {name: array.numpy() for name, array in results.items()}
