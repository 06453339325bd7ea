# SPDX-License-Identifier: Apache-2.0
"""Properties of every described operator: arrays, layouts, plans, refusals, in-place operation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import ops
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.meanings import stated
from pyaclnn.facts.accuracy import judge
from pyaclnn.facts.chips import DEFAULT_SOC_NAME, all_chips, find_chip
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option
from pyaclnn.facts.releases import DEFAULT, RELEASES, VARIABLE, simulated
from pyaclnn.health.smoke.launching import golden, is_possible, sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHOSEN = os.environ.get("PYACLNN_MOCK_SOC")
FAMILY = find_chip(CHOSEN or DEFAULT_SOC_NAME).family
USUAL = find_chip(DEFAULT_SOC_NAME).family
RELEASE = simulated().name


def home(operator: Operator) -> tuple[str, str]:
    """Where an operator is tried: the usual chip, or the first that has it; its first release."""
    families = operator.types.families
    there = [chip.family for chip in all_chips() if chip.family in families]
    entry = catalogue()[operator.c_name]
    release = next(name for name in RELEASES if entry.is_in(name))
    return USUAL if USUAL in families else there[0], release


# Other configurations run in another process, which simulates them.
TRIED = [op for op in all_operators().values() if home(op) == (FAMILY, RELEASE)]
ELSEWHERE = sorted({home(op) for op in all_operators().values()} - {(USUAL, DEFAULT)})
EVERY = pytest.mark.parametrize("operator", TRIED, ids=lambda op: op.name)
SHAPE = (4, 6, 8)
SHAPES = (SHAPE, (4, 16, 8, 8))


def dtype_of(operator: Operator) -> np.dtype[Any]:
    """The first dtype that the operator takes."""
    rows = operator.types.families[FAMILY]
    word = operator.types.allowed(operator.primary.type, {}, rows)[0]
    return np.dtype({"f32": "f4", "f16": "f2", "i8": "i1"}[word])


def arguments(operator: Operator, shapes: tuple[tuple[int, ...], ...] = SHAPES) -> dict[str, Any]:
    """Arguments in the first shape and dtype that the operator takes."""
    dtype = dtype_of(operator)
    shape = next(shape for shape in shapes if is_possible(operator, shape, dtype, FAMILY))
    return sample(operator, shape, dtype, FAMILY)


def call(operator: Operator, given: dict[str, Any], **how: Any) -> dict[str, Any]:
    """Call an operator; the results by name."""
    given = in_lists(operator, stated(operator, given))
    found = getattr(ops, operator.name)(**given, **how)
    return named(operator, found)


def named(operator: Operator, found: Any) -> dict[str, Any]:
    """Return the results of an operator by name."""
    names = [tensor.name for tensor in operator.returned]
    if operator.lists:
        (found,) = found
    return dict(zip(names, [found] if len(names) == 1 else found, strict=True))


def hold(operator: Operator, found: dict[str, Any], given: dict[str, Any]) -> None:
    """Hold results, and arguments that are updated, against float64."""
    expected = golden(operator, given, FAMILY)
    for name, value in found.items():
        if name not in expected:
            assert value is None
        else:
            verdict = judge(value, expected[name], quantized=True)
            assert verdict.passed, f"{name}: {verdict}"


def to_device(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pyaclnn.to_device(value) if isinstance(value, np.ndarray) else value
        for name, value in given.items()
    }


def shown(operator: Operator, name: str) -> str:
    """Return the name of a tensor in a refusal: in a list, with its index."""
    return f"{name}[0]" if operator.lists else name


def copies(given: dict[str, Any]) -> dict[str, Any]:
    """The same, which a call may update."""
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}


def updated(operator: Operator, given: dict[str, Any]) -> dict[str, Any]:
    return {t.name: given[t.name] for t in operator.inputs if t.written}


@pytest.fixture
def stream() -> Iterator[pyaclnn.Stream]:
    with pyaclnn.Stream() as opened:
        yield opened


def try_elsewhere(family: str, release: str, folder: Path, *which: str) -> None:
    """Run this module's tests for another chip and release."""
    chip = next(chip.soc_name for chip in all_chips() if chip.family == family)
    subprocess.run(  # our own interpreter
        [sys.executable, "-m", "pytest", "-q", "-n0", "-x", __file__, *which],
        env={**os.environ, "PYACLNN_MOCK_SOC": chip, VARIABLE: release},
        cwd=folder,  # where there is no source tree to take the package from
        check=True,
        timeout=900,
    )


@pytest.mark.exhaustive
@pytest.mark.skipif((FAMILY, RELEASE) != (USUAL, DEFAULT), reason="it is elsewhere already")
@pytest.mark.parametrize(
    ("family", "release"),
    [
        pytest.param(*place, marks=pytest.mark.exhaustive if place[1] != DEFAULT else ())
        for place in ELSEWHERE
    ],
)
def test_operators_of_other_chips_and_releases_are_tried_on_those(
    family: str, release: str, tmp_path: Path
) -> None:
    try_elsewhere(family, release, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.skipif((FAMILY, RELEASE) != (USUAL, DEFAULT), reason="it is elsewhere already")
@pytest.mark.parametrize("place", [place for place in ELSEWHERE if place[1] != DEFAULT])
def test_operators_of_newer_releases_are_called_there(
    place: tuple[str, str], tmp_path: Path
) -> None:
    try_elsewhere(*place, tmp_path, "-k", "numpy_arrays_in")


@EVERY
def test_numpy_arrays_in_are_numpy_arrays_out_when_all_is_done(operator: Operator) -> None:
    given = arguments(operator)
    before = {name: np.array(value) for name, value in given.items()}
    for _ in range(2):  # the second call knows that its arguments are accepted
        mine = copies(given)
        found = call(operator, mine)
        hold(operator, {**found, **updated(operator, mine)}, given)
        for tensor in operator.inputs:
            if not tensor.written:
                np.testing.assert_array_equal(mine[tensor.name], before[tensor.name])


@EVERY
def test_device_arrays_in_are_device_arrays_out_the_second_time_too(
    operator: Operator, stream: pyaclnn.Stream
) -> None:
    given = arguments(operator)
    for _ in range(2):
        placed = to_device(given)
        found = call(operator, placed, stream=stream)
        stream.synchronize()
        written = {**found, **updated(operator, placed)}
        hold(operator, {n: None if v is None else v.numpy() for n, v in written.items()}, given)


@EVERY
def test_results_given_are_the_ones_returned(operator: Operator) -> None:
    given = arguments(operator)
    if not operator.outputs:
        with pytest.raises(TypeError, match="'out'"):
            call(operator, given, out=None)
        return
    made = call(operator, given)
    out = tuple(None if value is None else np.empty_like(value) for value in made.values())
    found = call(operator, given, out=out)
    assert all(mine is theirs for mine, theirs in zip(found.values(), out, strict=True))


@EVERY
def test_strided_arguments_give_what_dense_ones_give(
    operator: Operator, stream: pyaclnn.Stream
) -> None:
    given = arguments(operator)
    strided = to_device(given)
    for tensor in operator.inputs:
        if tensor.written and operator.build is Build.INDIVIDUAL:
            continue  # written densely, whatever its strides
        wide = pyaclnn.to_device(np.repeat(given[tensor.name], 2, axis=-1))
        strided[tensor.name] = wide[..., ::2]
    found = call(operator, strided, stream=stream)
    stream.synchronize()
    hold(operator, {n: None if v is None else v.numpy() for n, v in found.items()}, given)


@EVERY
def test_a_plan_repeats_a_call_and_takes_other_arrays(
    operator: Operator, stream: pyaclnn.Stream
) -> None:
    given = arguments(operator)
    placed = stated(operator, to_device(given))
    leader = operator.primary.name
    other = {**given, leader: given[leader][::-1].copy()}
    function = getattr(ops, operator.name)
    with pyaclnn.plan(function, **in_lists(operator, placed), stream=stream) as plan:
        for turn in (given, other):
            for name, value in updated(operator, given).items():
                placed[name].copy_from(value)
            arrays: dict[str, Any] = {}
            if operator.lists:  # its plans keep the arrays that they were made with
                placed[leader].copy_from(turn[leader])
            else:
                arrays = {leader: pyaclnn.to_device(turn[leader])}
            found = plan.run(**arrays)
            stream.synchronize()
            written = {**named(operator, found), **updated(operator, {**placed, **arrays})}
            hold(operator, {n: None if v is None else v.numpy() for n, v in written.items()}, turn)
            if not updated(operator, given):
                eager = function(**in_lists(operator, {**placed, **arrays}), stream=stream)
                stream.synchronize()
                assert type(found) is type(eager)
                for name, value in named(operator, eager).items():
                    if value is not None:
                        np.testing.assert_array_equal(written[name].numpy(), value.numpy())


@EVERY
def test_each_argument_of_a_wrong_dtype_is_named(operator: Operator) -> None:
    given = arguments(operator)
    for tensor in operator.inputs:
        with pytest.raises(InvalidArgumentError) as caught:
            call(operator, {**given, tensor.name: given[tensor.name].astype(np.complex64)})
        name = shown(operator, tensor.name)
        assert str(caught.value).startswith(f"{operator.name}(): '{name}' is complex64; it")


@EVERY
def test_each_argument_of_a_wrong_shape_is_named(operator: Operator) -> None:
    given = arguments(operator)
    for tensor in operator.inputs[1:]:
        others = (other for other in operator.tensors if other is not tensor)
        if not tensor.shape.names.issubset(name for other in others for name in other.shape.names):
            continue  # of any shape
        wrong = np.concatenate([given[tensor.name]] * 2, axis=-1)
        with pytest.raises(InvalidArgumentError) as caught:
            call(operator, {**given, tensor.name: wrong})
        text = str(caught.value)
        assert f"{operator.name}(): '" in text
        assert str(wrong.shape) in text or str(given[tensor.name].shape) in text


@EVERY
def test_each_argument_that_must_be_there_is_named(operator: Operator) -> None:
    given = arguments(operator)
    for tensor in operator.inputs:
        if tensor.optional:
            continue
        name = re.escape(shown(operator, tensor.name))
        with pytest.raises(InvalidArgumentError, match=f"'{name}' is None; it must be a"):
            call(operator, {**given, tensor.name: None})


@EVERY
def test_what_is_optional_may_be_left_out(operator: Operator) -> None:
    given = arguments(operator)
    fewer = dict(given)
    for tensor in reversed([tensor for tensor in operator.inputs if tensor.optional]):
        left = {name: value for name, value in fewer.items() if name != tensor.name}
        try:
            call(operator, copies(left))
        except InvalidArgumentError:
            assert operator.constraint is not None  # who says what it is needed for
        else:
            fewer = left
    absent = dict.fromkeys(given.keys() - fewer.keys())
    hold(operator, call(operator, copies(fewer)), {**fewer, **absent})


MOST_AXES = {"rms_norm_dynamic_mx_quant": 7, "add_rms_norm_dynamic_mx_quant": 7}
"""The operators that take fewer axes than 8, because their scales have one more."""


@pytest.mark.sampled(40)
@EVERY
@pytest.mark.parametrize("axes", range(2, 9))
def test_any_number_of_axes_is_taken(operator: Operator, axes: int, stream: pyaclnn.Stream) -> None:
    shape = (4, 6, *[2] * (axes - 3), 8)[:axes]
    if not is_possible(operator, shape, dtype_of(operator), FAMILY):
        assert operator.primary.shape.least_rank > 2
        return
    given = arguments(operator, (shape,))
    if axes > MOST_AXES.get(operator.name, 8):
        with pytest.raises(pyaclnn.AclError, match=r"has 8 dimensions, .* it must have 1 to 7"):
            call(operator, given)
        return
    found = call(operator, given)
    hold(operator, {**found, **updated(operator, given)}, arguments(operator, (shape,)))
    placed = to_device(arguments(operator, (shape,)))
    found = call(operator, placed, stream=stream)
    stream.synchronize()
    fresh = arguments(operator, (shape,))
    hold(operator, {n: None if v is None else v.numpy() for n, v in found.items()}, fresh)


WRONG = {
    Kind.REAL: (float("nan"), "1", None, 1j),
    Kind.SCALAR: (float("nan"), "1", None),
    Kind.INTEGER: (1.0, "1", None, True, 1 << 63),
    Kind.FLAG: (1, None, "yes"),
    Kind.LENGTHS: ("8", 8.0, None),
    Kind.AXES: ("0", 0.0, (9,), (-9,), (0, 0)),
    Kind.MASK: (1, (1, 0, 1), (True,), None),
    Kind.DTYPE: ("complex64", "no type"),
    Kind.STRING: (1, None, "NCWH", b"NCHW"),
}


@pytest.mark.sampled(12)
@EVERY
def test_each_option_of_a_wrong_kind_is_named(operator: Operator) -> None:
    given = arguments(operator)
    for option in (option for option in operator.options if option.derived is None):
        for value in (value for value in WRONG[option.kind] if value is not option.default):
            with pytest.raises(InvalidArgumentError, match=f"'{option.name}' is "):
                call(operator, {**given, option.name: value})


@EVERY
def test_options_known_by_two_names_are_taken_by_either(
    operator: Operator, stream: pyaclnn.Stream
) -> None:
    taken = arguments(operator)
    given = {name: value for name, value in taken.items() if name not in ("eps", "epsilon")}
    for name, other in (("eps", "epsilon"), ("epsilon", "eps")):
        if name not in operator.by_name:
            continue
        for _ in range(2):
            expected = call(operator, to_device(given), **{name: 0.5}, stream=stream)
            found = call(operator, to_device(given), **{other: 0.5}, stream=stream)
            stream.synchronize()
            for key, value in expected.items():
                if value is not None:
                    np.testing.assert_array_equal(found[key].numpy(), value.numpy())
        with pytest.raises(InvalidArgumentError, match=f"'{name}' is -1; it must be"):
            call(operator, given, **{other: -1})
        with pytest.raises(TypeError, match=rf"\(\) got '{name}' and '{other}', which are one"):
            call(operator, given, **{name: 0.5, other: 0.5})


@EVERY
def test_each_limit_of_an_option_is_held(operator: Operator) -> None:
    given = arguments(operator)
    for option in operator.options:
        if option.derived is not None:
            continue
        beyond = [] if option.least is None else [option.least - 1]
        beyond += [] if option.above is None else [option.above]
        beyond += [] if option.most is None else [option.most + 1]
        for value in beyond:
            with pytest.raises(InvalidArgumentError, match=f"'{option.name}' is {value}; it must"):
                call(operator, {**given, option.name: value})


@EVERY
def test_defaults_are_those_of_the_description(operator: Operator) -> None:
    for name in (*operator.positional, *operator.keywords):
        parameter = operator.by_name[name]
        needed = (
            parameter.default is REQUIRED
            if isinstance(parameter, Option)
            else parameter in operator.inputs and not parameter.optional
        )
        given = {key: value for key, value in arguments(operator).items() if key != name}
        if needed:
            with pytest.raises(TypeError, match=name):
                call(operator, given)
