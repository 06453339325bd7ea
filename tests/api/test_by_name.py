# SPDX-License-Identifier: Apache-2.0
"""Any operator by its C name: a function with the signature of C."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn.base.errors import AclError, InvalidArgumentError, MissingSymbolError
from pyaclnn.calling import undescribed
from pyaclnn.calling.declared import snake_name
from pyaclnn.calling.undescribed_function import undescribed_function
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.stream import Stream

X = np.linspace(-2, 3, 4 * 64, dtype=np.float32).reshape(4, 64)
GAMMA = np.linspace(0.5, 1.5, 64, dtype=np.float32)
RESULTS = {"yOut": pyaclnn.Empty((4, 64), "float32"), "rstdOut": pyaclnn.Empty((4, 1), "float32")}
Y, RSTD = pyaclnn.reference.rms_norm(X, GAMMA)


@pytest.fixture
def op(device: Device) -> Any:
    assert not device.closed
    return pyaclnn.op("aclnnRmsNorm")


def test_an_operator_is_one_object_by_either_name(op: Any) -> None:
    assert pyaclnn.aclnn.rms_norm is op is pyaclnn.op("aclnnRmsNorm")
    assert "rms_norm" in dir(pyaclnn.aclnn)
    assert pyaclnn.rms_norm is not op


def test_its_signature_is_that_of_c(op: Any) -> None:
    signature = inspect.signature(op)
    assert [*signature.parameters] == ["x", "gamma", "epsilon", "yOut", "rstdOut", "stream"]
    assert signature.parameters["epsilon"].default is inspect.Parameter.empty
    assert repr(signature.parameters["yOut"].default) == "<made by a rule>"
    assert "yOut: ``const aclTensor *``, written." in op.__doc__


def test_numpy_in_is_numpy_out(op: Any) -> None:
    y, rstd = op(X, GAMMA, 1e-6, **RESULTS)
    np.testing.assert_allclose(y, Y, rtol=1e-5)
    np.testing.assert_allclose(rstd, RSTD, rtol=1e-5)
    mine = np.empty((64, 4), np.float32).T
    found = op(x=X, gamma=GAMMA, epsilon=1e-6, yOut=mine, rstdOut=np.empty((4, 1), np.float32))
    assert found[0] is mine
    np.testing.assert_array_equal(mine, y)


def test_device_arrays_in_are_device_arrays_out(op: Any, device: Device, stream: Stream) -> None:
    x, gamma = to_device(X, device), to_device(GAMMA, device)
    y, rstd = op(x, gamma, 1e-6, **RESULTS, stream=stream)
    for _ in range(3):  # the first call finds out what the others go by
        again = op(x, gamma, 1e-6, y, rstd, stream=stream)
        assert again[0] is y
        assert again[1] is rstd
    np.testing.assert_allclose(y.numpy(stream), Y, rtol=1e-5)


def test_a_call_goes_by_what_an_earlier_one_found_out_only_if_it_is_the_same(
    op: Any, device: Device, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, gamma = to_device(X, device), to_device(GAMMA, device)
    y, rstd = op(x, gamma, 0.0, **RESULTS, stream=stream)
    op(x, gamma, 0.0, y, rstd, stream=stream)
    looked = []

    check = undescribed.Undescribed.check_arguments

    def seen(self: Any, arguments: list[Any], stream: Any) -> Any:
        looked.append(arguments[2])
        return check(self, arguments, stream)

    monkeypatch.setattr(undescribed.Undescribed, "check_arguments", seen)
    op(x, gamma, 0.0, y, rstd, stream=stream)
    assert looked == []
    for other in (-0.0, 0, 0.5, 0.5):
        op(x, gamma, other, y, rstd, stream=stream)
    assert list(map(repr, looked)) == ["-0.0", "0", "0.5"]
    stream.synchronize()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "left out": ({"gamma": ...}, "'gamma' is left out; it must be given: C has no defaults"),
    "no result": ({"yOut": ...}, "'yOut' is left out; it must be an array, or pyaclnn.Empty"),
    "unknown": ({"epsilom": 1.0}, "Hint: did you mean 'epsilon'?"),
    "a list": ({"x": [1.0]}, "'x' is a list; it must be a NumPy array or a DeviceArray, or None"),
    "a number for an array": ({"x": 1.0}, "'x' is a float; it must be"),
    "an array for a number": ({"epsilon": X}, "'epsilon' is"),
    "a truth value": ({"epsilon": True}, "'epsilon' is True; it must be a real number"),
    "NULL": ({"epsilon": None}, "'epsilon' is None; it must be a value: C takes no NULL here"),
    "a strange type": ({"x": X.astype("U1")}, "one of"),
    "read-only": ({"yOut": np.broadcast_to(np.float32(0), (4, 64))}, "'yOut' is"),
    "overlapping": ({"yOut": X}, "'yOut' is an array that shares memory with 'x'"),
    "no stream": ({"stream": 7}, "'stream' is 7"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_refused_by_its_name(case: str, op: Any) -> None:
    others, message = WRONG[case]
    given = {"x": X, "gamma": GAMMA, "epsilon": 1e-6, **RESULTS, **others}
    with pytest.raises(InvalidArgumentError) as caught:
        op(**{name: value for name, value in given.items() if value is not ...})
    assert str(caught.value).startswith("aclnnRmsNorm(): '")
    assert message in str(caught.value)


def test_too_many_arguments_are_refused(op: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="'arguments' is 7 values; it must be at most 5"):
        op(X, GAMMA, 1e-6, None, None, None, None)


def test_arrays_lie_together(op: Any, device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match="while others are device arrays"):
        op(to_device(X, device), GAMMA, 1e-6, **RESULTS)


def test_an_overlap_on_the_device_is_refused_and_a_guessed_one_is_told(
    op: Any, device: Device, stream: Stream
) -> None:
    before = len(pyaclnn.mock.violations())
    x, gamma = to_device(X, device), to_device(GAMMA, device)
    rstd = DeviceArray.empty((4, 1), np.float32, device)
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="'yOut' is an array that shares memory"):
            op(x, gamma, 1e-6, x, rstd, stream=stream)
    declared = op.declared
    guessed = declared.directions._replace(guessed=True)
    made = undescribed_function(type(declared)(declared.name, declared.signature, guessed, "ttdtt"))
    rows = to_device(np.concatenate((X, X[:1])), device)  # on its input alone it may lie
    with pytest.warns(RuntimeWarning, match="That it is written is a guess"):
        made(rows[:-1], gamma, 1e-6, rows[1:], rstd, stream=stream)
    stream.synchronize()
    assert [each.rule for each in pyaclnn.mock.violations()[before:]] == ["tensors-overlap"]
    pyaclnn.mock.clear_violations()


def test_an_overlap_of_a_single_byte_is_refused(device: Device, stream: Stream) -> None:
    x = to_device(np.array([-3], np.int8), device)
    with pytest.raises(InvalidArgumentError, match="'out' is an array that shares memory"):
        pyaclnn.aclnn.neg(x, x, stream=stream)


def test_elements_that_lie_between_those_of_another_do_not_overlap(
    device: Device, stream: Stream
) -> None:
    both = to_device(np.repeat(X, 2, axis=1).reshape(4, 64, 2), device)
    x, y = both[:, :, 0], both[:, :, 1]
    out, *rest = pyaclnn.aclnn.layer_norm(x, 64, None, None, 1e-5, y, None, None, stream=stream)
    assert out is y
    assert rest == [None, None]
    np.testing.assert_allclose(
        y.numpy(stream), pyaclnn.reference.layer_norm(X, [64])[0], rtol=1e-4, atol=1e-5
    )


def test_what_cann_refuses_carries_every_argument(op: Any, device: Device) -> None:
    x = to_device(X, device)
    with pytest.raises(AclError) as caught:
        op(x, None, 1e-6, **RESULTS)
    assert caught.value.name == "ACLNN_ERR_PARAM_NULLPTR"
    assert caught.value.arguments["gamma"] == "NULL"
    assert caught.value.arguments["epsilon"] == "1e-06"
    assert caught.value.arguments["x"].startswith("float32 tensor, shape (4, 64)")


@pytest.mark.parametrize("count", [0, 1, 5, 6])
def test_how_many_were_found_is_known_when_the_operator_has_run(
    count: int, device: Device, stream: Stream
) -> None:
    x = np.zeros((2, 3), np.float32)
    x.flat[:count] = 1
    room = pyaclnn.Empty((6, 2), np.int64)
    assert pyaclnn.aclnn.nonzero(x, room).tolist() == np.argwhere(x).tolist()
    found = pyaclnn.aclnn.nonzero(to_device(x, device), room, stream=stream)
    assert found.array.shape == (6, 2)
    assert found.actual().numpy().tolist() == np.argwhere(x).tolist()


def test_what_was_found_of_a_result_that_nobody_asks_for_is_forgotten(
    device: Device, stream: Stream
) -> None:
    x = to_device(np.ones((2, 3), np.float32), device)
    for _ in range(2):  # the second time CANN answers phase 1 from its cache
        pyaclnn.aclnn.nonzero(x, pyaclnn.Empty((6, 2), np.int64), stream=stream)
    stream.synchronize()
    assert "descriptors" not in pyaclnn.live_handles()


def test_a_plan_of_an_operator_by_name(op: Any, device: Device, stream: Stream) -> None:
    x, gamma = to_device(X, device), to_device(GAMMA, device)
    with pyaclnn.plan(op, x, gamma, 1e-6, **RESULTS, stream=stream) as plan:
        y, _ = plan.run(stream=stream)
        np.testing.assert_allclose(y.numpy(stream), Y, rtol=1e-5)
        plan.run(x=to_device(X[::-1].copy(), device), stream=stream)
        np.testing.assert_allclose(y.numpy(stream), Y[::-1], rtol=1e-5)
    for given, message in (
        ((X, GAMMA, 1e-6, *RESULTS.values()), "NumPy arrays"),
        ((x, gamma, 1e-6, x, RESULTS["rstdOut"]), "shares memory"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            pyaclnn.plan(op, *given)


def test_an_unknown_operator_gets_the_near_name(device: Device) -> None:
    assert not device.closed
    with pytest.raises(InvalidArgumentError, match="did you mean 'aclnnRmsNormGrad'"):
        pyaclnn.op("aclnnRmsNormGrat")
    with pytest.raises(InvalidArgumentError, match="did you mean 'aclnnAdd'"):
        pyaclnn.op("add")
    with pytest.raises(AttributeError, match="did you mean 'rms_norm_grad'"):
        _ = pyaclnn.aclnn.rms_norm_grat  # type: ignore[attr-defined]  # that is the point
    with pytest.raises(InvalidArgumentError, match="a C name, such as"):
        pyaclnn.op(7)  # type: ignore[call-overload]  # that is the point
    with pytest.raises(AttributeError, match="did you mean 'add'"):
        _ = pyaclnn.aclnn.aclnnAdd  # type: ignore[attr-defined]  # that is the point


def test_an_operator_of_a_later_release_is_known_and_told_to_be_missing(device: Device) -> None:
    later = next(name for name, entry in catalogue().items() if entry.releases == ("9",))
    function = pyaclnn.op(later)
    parameters = catalogue()[later].parameters
    assert [*inspect.signature(function).parameters][:-1] == [p.name for p in parameters]
    array = DeviceArray.empty(1, np.float32, device)
    given = {"t": array, "T": [array], "I": 1, "s": "x", "b": True, "d": 1.0, "f": 1.0, "y": 0}
    with pytest.raises(MissingSymbolError, match=later):
        function(*(given.get(p.kind, 1) for p in parameters))


def test_names_in_pythons_spelling_are_all_different_and_no_word_of_its_own() -> None:
    names = {snake_name(name) for name in catalogue()}
    assert len(names) == len(catalogue())
    assert all(name.isidentifier() and name == name.lower() for name in names)
    spelt = {
        "aclnnFooBarV2": "foo_bar_v2",
        "aclRfft1D": "rfft1_d",
        "aclnnFFNV2": "ffnv2",
        "aclnnInplaceAdd": "inplace_add",
        "InnerPromptFlashAttention": "inner_prompt_flash_attention",
    }
    assert {name: snake_name(name) for name in spelt} == spelt
