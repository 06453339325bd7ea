# SPDX-License-Identifier: Apache-2.0
"""Whatever an operator takes arrives: lists, scalars, strings, arrays, numbers, tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Run

TELL = """
forced = {forced}
if forced:
    everything.call_in_python()
try:
    launch(
        xs=[array(1, 2), None, array(3)], biasOptional=array(4, 5), alpha=np.float32(0.5),
        weights=[True, 7, -1.5], counts=[1, -2, 2**62], shifts=np.array([0.25, -8]),
        flags=(True, False, True), mode="tell", on=True, small=-128, medium=-(2**31),
        large=-(2**63), huge=2**64 - 1, narrow=-0.125, wide=1e300, kind=np.float16,
        selfRef=array(6), outs=[],
    )
except pyaclnn.InvalidArgumentError as error:
    print(error.detail)
    print(error.arguments["weights"], error.arguments["mode"], error.arguments["outs"])
"""


@pytest.mark.parametrize("forced", [False, True])
def test_every_kind_of_argument_arrives(forced: bool, run: Run) -> None:
    told, described = run(TELL.format(forced=forced)).splitlines()
    two, one = ("tensor", (2,), 2, (2,)), ("tensor", (1,), 2, (1,))
    scalars = [(12, "01"), (9, "0700000000000000"), (11, "000000000000f8bf")]
    expected = [
        [two, None, one], two, (0, "0000003f"), scalars, (1, -2, 2**62), (0.25, -8.0),
        (True, False, True), "tell", True, -128, -(2**31), -(2**63), 2**64 - 1, -0.125, 1e300, 1,
        one, [],
    ]  # fmt: skip
    assert told.endswith(f"told: {expected}")
    assert described == "list of scalars (True, 7, -1.5) 'tell' list of 0 tensors: none"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", [1, 3, 200])
def test_lists_of_any_length_are_computed_and_tensors_updated_in_place(
    count: int, run: Run
) -> None:
    run(f"""
xs = [array(i, -i) for i in range({count})]
outs = [array(0, 0) for _ in xs]
target = array(1, 2)
weights = [float(i) for i in range({count})]
launch(xs=xs, weights=weights, outs=outs, selfRef=target, biasOptional=array(10, 20), alpha=3)
launch(xs=xs, weights=weights, outs=outs, selfRef=target)
stream.synchronize()
for i, out in enumerate(outs):
    assert np.array_equal(out.numpy(), np.array([i * i, -i * i], f32)), (i, out.numpy())
assert target.numpy().tolist() == [6, 7]
""")


def test_memory_of_lists_is_kept_until_the_stream_has_passed(run: Run) -> None:
    run("""
target = array(1, 2)
out = array(0, 0)
launch(xs=[array(3, 4)], weights=[2], outs=[out], selfRef=target)
other = array(5, 6)  # would get the memory of what was dropped
stream.synchronize()
assert out.numpy().tolist() == [6, 8], out.numpy()
closed = array(1, 1)
closed.close()
try:
    launch(xs=[closed], weights=[1], outs=[out])
except pyaclnn.ContextError as error:
    assert "given back" in str(error)
else:
    raise AssertionError
""")


def test_what_cannot_be_made_ends_the_call_and_leaves_nothing(run: Run) -> None:
    run("""
call = dict(xs=[array(1), array(2)], weights=[1, 2], outs=[array(0), array(0)], counts=[1],
            shifts=[1.0], flags=[True])
launch(**call)
stream.synchronize()
before = [living.kind for living in mock.alive()]
tried = 0
for name in ("TensorList", "ScalarList", "Scalar", "IntArray", "FloatArray", "BoolArray", "Tensor"):
    for nth in range(1, 7):
        with mock.faults(f"aclCreate{name}:{nth}=507899"):
            try:
                launch(**call)
            except pyaclnn.AclError as error:
                assert error.routine == f"aclCreate{name}", error
                tried += 1
        assert [living.kind for living in mock.alive()] == before
assert tried == 2 + 1 + 3 + 1 + 1 + 1 + 5, tried
""")


def test_a_plan_with_lists_repeats_but_keeps_its_arrays(run: Run) -> None:
    run("""
from pyaclnn.calling.plan import plan_operator
target, outs = array(0, 0), [array(0, 0), array(0, 0)]
given = {**GIVEN, "xs": [array(1, 2), array(3, 4)], "weights": [2, 3], "outs": outs}
ready = plan_operator(everything, *{**given, "selfRef": target}.values(), stream=stream)
assert ready.repeatable
del given
for _ in range(3):
    results = ready.run()
    stream.synchronize()
assert results == (target, tuple(outs))
assert [out.numpy().tolist() for out in outs] == [[2, 4], [9, 12]]
assert target.numpy().tolist() == [6, 6]
try:
    ready.run(selfRef=array(1, 1))
except pyaclnn.InvalidArgumentError as error:
    assert "such a plan keeps the arrays it was made with" in str(error)
else:
    raise AssertionError
ready.run()
stream.synchronize()
assert target.numpy().tolist() == [8, 8]
ready.close()
""")


def test_a_plan_of_a_tensor_in_place_takes_another(run: Run) -> None:
    run("""
from pyaclnn.calling.plan import plan_operator
one, other = array(1, 2), array(10, 20)
ready = plan_operator(package.operator("aclnnInplaceIncrement"), one, stream=stream)
assert ready.repeatable and ready.run() == (one,)
assert ready.run(selfRef=other) == (other,)
ready.run()
stream.synchronize()
assert (one.numpy().tolist(), other.numpy().tolist()) == ([2, 3], [12, 22])
ready.close()
""")


WRONG = {
    "xs=7": "'xs' is 7; it must be a sequence of DeviceArrays, or None",
    "xs=[1]": "'xs' is 1; it must be a DeviceArray, or None",
    "selfRef=[array(1)]": "it must be a DeviceArray, or None",
    "alpha='x'": "'alpha' is 'x'; it must be a number or a NumPy scalar",
    "alpha=2**70": "it must be an integer from -9223372036854775808",
    "weights=3": "it must be a sequence of numbers, or None",
    "counts=[1.5]": "'counts' is 1.5; it must be an integer from",
    "counts='ab'": "it must be an integer or a sequence of integers, or None",
    "shifts=[1e39]": "it must be at most 3.402823e+38, the largest float",
    "flags=[1]": "'flags' is 1; it must be True or False",
    "mode=b'x'": "it must be a str of ASCII letters, or None",
    "mode='\\0'": "it must be a str of ASCII letters, or None",
    "mode='ä'": "it must be a str of ASCII letters, or None",
    "on=1": "'on' is 1; it must be True or False",
    "small=128": "it must be an integer from -128 to 127 (int8_t)",
    "medium=True": "'medium' is True; it must be an integer from -2147483648",
    "large=2**63": "it must be an integer from -9223372036854775808",
    "huge=-1": "it must be an integer from 0 to 18446744073709551615 (uint64_t)",
    "narrow=True": "'narrow' is True; it must be a real number",
    "wide=None": "'wide' is None; it must be a value: C takes no NULL here",
    "wide=1j": "it must be a real number",
    "kind='no dtype'": "'kind' is",
    "alpha=[[1], 2]": "it must be a number or a NumPy scalar",
    "alpha=np.array('x')": "it must be a number or a NumPy scalar",
    "weights=np.array(3)": "it must be a sequence of numbers, or None",
    "wide=[[1], 2]": "it must be a real number",
    "wide=np.ones(1)": "it must be a real number",
    "kind=[np.ones(2), None]": "'kind' is",
    "kind={}": "'kind' is",
}


def test_what_c_cannot_take_is_refused_by_its_name(run: Run) -> None:
    told = run(
        f"for case in {list(WRONG)!r}:\n"
        "    try:\n        eval(f'launch({case})')\n"
        "    except pyaclnn.InvalidArgumentError as error:\n"
        "        print(str(error).splitlines()[0])\n"
    ).splitlines()
    assert len(told) == len(WRONG)
    for (case, expected), line in zip(WRONG.items(), told, strict=True):
        assert expected in line, (case, line)
