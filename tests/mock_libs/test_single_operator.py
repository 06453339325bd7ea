# SPDX-License-Identifier: Apache-2.0
"""Data buffers, tensor descriptions, attributes, and single operators by their names in graphs."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import cffi
import numpy as np
import pytest

import pyaclnn.mock
from pyaclnn.mock import libdir

from . import npu

pytestmark = pytest.mark.usefixtures("context")
STUBS = Path(__file__).parents[2] / "include_stubs" / "acl"
TYPEDEFS = """
typedef int aclError; typedef int aclDataType; typedef int aclFormat; typedef int aclMemType;
typedef void *aclrtStream; typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc; aclError aclrtSynchronizeStream(aclrtStream stream);
"""


def declarations() -> str:
    """The functions of the single-operator interface, which the binding does not have."""
    names = ("acl_base_mdl.h", "acl_op.h", "acl_op_compiler.h")
    text = "".join((STUBS / name).read_text("utf-8") for name in names)
    text = re.sub(r"(?ms)/\*.*?\*/|^#.*?$|ACL_FUNC_VISIBILITY|ACL_STUBS_C_\w+", "", text)
    return TYPEDEFS + text.replace("ACL_TENSOR_SHAPE_RANGE_NUM", "2")


class Lazy:
    """The library, opened with the first function that is called."""

    def __getattr__(self, name: str) -> Any:
        found = ffi.dlopen(f"{libdir()}/libascendcl.so")
        return getattr(found, name)


ffi = cffi.FFI()
ffi.cdef(declarations())
lib, NULL = Lazy(), ffi.NULL


def call(name: str, *arguments: Any) -> None:
    """Call a function that must succeed."""
    status = getattr(lib, name)(*arguments)
    assert status == 0, f"{name} answered {status}: {npu.message()}"


FLOAT, INT32, INT64, UNDEFINED, ND = 0, 3, 9, -1, 2
DEAD = ffi.cast("aclDataBuffer *", 0xDEAD)
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int32): INT32, np.dtype(np.int64): INT64}


def number(address: Any) -> int:
    return int(npu.ffi.cast("uintptr_t", address))


def describe(dims: tuple[int, ...], dtype: int = FLOAT) -> Any:
    made = lib.aclCreateTensorDesc(dtype, len(dims), list(dims), ND)
    assert made != NULL, npu.message()
    return made


class TestDataBuffers:
    def test_it_is_a_pair_that_nobody_checks(self) -> None:
        made = lib.aclCreateDataBuffer(NULL, 0)
        assert lib.aclGetDataBufferAddr(made) == NULL
        call("aclUpdateDataBuffer", made, ffi.cast("void *", 64), (1 << 32) + 8)
        assert int(ffi.cast("uintptr_t", lib.aclGetDataBufferAddr(made))) == 64
        assert lib.aclGetDataBufferSize(made) == 8
        assert lib.aclGetDataBufferSizeV2(made) == (1 << 32) + 8
        call("aclDestroyDataBuffer", made)

    def test_null_is_refused_or_nothing(self) -> None:
        assert lib.aclDestroyDataBuffer(NULL) == 100000
        assert lib.aclUpdateDataBuffer(NULL, NULL, 0) == 100000
        assert lib.aclGetDataBufferAddr(NULL) == NULL
        assert lib.aclGetDataBufferSize(NULL) == lib.aclGetDataBufferSizeV2(NULL) == 0

    def test_a_second_destruction_is_on_record(self) -> None:
        before = len(pyaclnn.mock.violations())
        made = lib.aclCreateDataBuffer(NULL, 0)
        call("aclDestroyDataBuffer", made)
        assert lib.aclDestroyDataBuffer(made) == 100000
        assert lib.aclDestroyDataBuffer(DEAD) == 100000
        found = [each.rule for each in pyaclnn.mock.violations()[before:]]
        assert found == ["destroyed-twice", "handle-unknown"]


class TestTensorDescriptions:
    def test_what_was_given_is_answered(self) -> None:
        made = describe((2, 3), INT32)
        dim = ffi.new("int64_t *")
        assert (lib.aclGetTensorDescType(made), lib.aclGetTensorDescFormat(made)) == (INT32, ND)
        assert lib.aclGetTensorDescNumDims(made) == 2
        assert lib.aclGetTensorDescElementCount(made) == 6
        assert lib.aclGetTensorDescSize(made) == 24
        assert [lib.aclGetTensorDescDim(made, place) for place in range(3)] == [2, 3, -1]
        call("aclGetTensorDescDimV2", made, 1, dim)
        assert dim[0] == 3
        assert lib.aclGetTensorDescDimV2(made, 2, dim) == 100000
        assert ffi.string(lib.aclGetTensorDescName(made)) == b""
        lib.aclSetTensorDescName(made, b"x")
        assert ffi.string(lib.aclGetTensorDescName(made)) == b"x"
        assert lib.aclGetTensorDescByIndex(made, 0) == made
        lib.aclDestroyTensorDesc(made)

    @pytest.mark.parametrize(
        ("dims", "count", "rank"), [((), 1, 0), ((2, -1), 0, 2), ((-2,), 0, 0xFFFFFFFFFFFFFFFE)]
    )
    def test_unknown_dimensions(self, dims: tuple[int, ...], count: int, rank: int) -> None:
        made = describe(dims)
        assert lib.aclGetTensorDescElementCount(made) == count
        assert lib.aclGetTensorDescNumDims(made) == rank
        lib.aclDestroyTensorDesc(made)

    def test_origin_and_storage_are_two(self) -> None:
        made = describe((2, 3))
        call("aclSetTensorShape", made, 1, [6])
        call("aclSetTensorFormat", made, 29)
        assert (lib.aclGetTensorDescNumDims(made), lib.aclGetTensorDescFormat(made)) == (2, ND)
        call("aclSetTensorOriginShape", made, 1, [6])
        call("aclSetTensorOriginFormat", made, 0)
        assert (lib.aclGetTensorDescNumDims(made), lib.aclGetTensorDescFormat(made)) == (1, 0)
        lib.aclDestroyTensorDesc(made)

    def test_ranges_and_constants(self) -> None:
        made, pair = describe((-1, 3)), ffi.new("int64_t[2]")
        call("aclSetTensorShapeRange", made, 2, ffi.new("int64_t[2][2]", [[1, 8], [3, 3]]))
        call("aclGetTensorDescDimRange", made, 0, 2, pair)
        assert list(pair) == [1, 8]
        assert lib.aclGetTensorDescDimRange(made, 2, 2, pair) == 100000
        assert lib.aclGetTensorDescDimRange(made, 0, 1, pair) == 100000
        call("aclSetTensorConst", made, pair, 16)
        assert lib.aclSetTensorConst(made, NULL, 16) == lib.aclSetTensorConst(made, pair, 0)
        call("aclSetTensorValueRange", made, 1, ffi.new("int64_t[1][2]", [[0, 1]]))
        call("aclSetTensorPlaceMent", made, 1)
        call("aclSetTensorDynamicInput", made, b"x")
        lib.aclDestroyTensorDesc(made)

    def test_nulls(self) -> None:
        assert lib.aclCreateTensorDesc(FLOAT, -1, NULL, ND) == NULL
        assert lib.aclCreateTensorDesc(FLOAT, 1, NULL, ND) == NULL
        assert lib.aclGetTensorDescType(NULL) == lib.aclGetTensorDescFormat(NULL) == UNDEFINED
        assert lib.aclGetTensorDescElementCount(NULL) == lib.aclGetTensorDescSize(NULL) == 0
        assert (lib.aclGetTensorDescNumDims(NULL), lib.aclGetTensorDescDim(NULL, 0)) == (0, -1)
        assert ffi.string(lib.aclGetTensorDescName(NULL)) == b""
        assert lib.aclSetTensorFormat(NULL, ND) == 0
        assert lib.aclSetTensorShape(NULL, 0, [1]) == 100000
        lib.aclDestroyTensorDesc(NULL)


def execute(name: str, inputs: list[Any], outputs: list[Any], **attributes: Any) -> tuple[int, Any]:
    """Compile and execute an operator and wait; gives the status, and the outputs.

    A list is an input on the host, None one that is left out.
    """
    attr, memory = lib.aclopCreateAttr(), []
    setters = {bool: "Bool", int: "Int", float: "Float", str: "String"}
    for key, value in attributes.items():
        if isinstance(value, tuple):
            call("aclopSetAttrListInt", attr, key.encode(), len(value), list(value))
        else:
            given = value.encode() if isinstance(value, str) else value
            call(f"aclopSetAttr{setters[type(value)]}", attr, key.encode(), given)
    descs, buffers = [], []
    for each in (*inputs, *outputs):
        if each is None:
            descs.append(describe((), UNDEFINED))
            buffers.append(lib.aclCreateDataBuffer(NULL, 0))
            continue
        array = np.asarray(each, np.int64 if isinstance(each, list) else each.dtype)
        descs.append(describe(array.shape, TYPES[array.dtype]))
        content = array.tobytes()
        if isinstance(each, list):
            call("aclSetTensorConst", descs[-1], content, len(content))
        memory.append(npu.device_memory(max(len(content), 1)))
        npu.write(memory[-1], content)
        buffers.append(
            lib.aclCreateDataBuffer(ffi.cast("void *", number(memory[-1])), len(content))
        )
    count = len(inputs)
    status = lib.aclopCompileAndExecute(
        name.encode(), count, descs[:count], buffers[:count], len(outputs), descs[count:],
        buffers[count:], attr, 0, 0, NULL, NULL,
    )  # fmt: skip
    status = status or lib.aclrtSynchronizeStream(NULL)
    found = [
        np.frombuffer(npu.read(address, out.nbytes), out.dtype).reshape(out.shape)
        for out, address in zip(outputs, memory[-len(outputs) :], strict=True)
    ]
    for desc, buffer in zip(descs, buffers, strict=True):
        lib.aclDestroyTensorDesc(desc)
        call("aclDestroyDataBuffer", buffer)
    for address in memory:
        npu.call("aclrtFree", address)
    lib.aclopDestroyAttr(attr)
    return status, found


X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


# name, inputs, attributes, results: typed by hand or by NumPy.
CASES: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("MatMul", [X, Y, None], {"transpose_x2": True}, [X @ Y.T]),
    ("MatMulV2", [X, Y], {"transpose_x1": True}, [X.T @ Y]),
    ("BatchMatMulV2", [X[None], Y[None]], {"adj_x2": True}, [(X @ Y.T)[None]]),
    ("Add", [X, Y], {"_hint": 1}, [X + Y]),
    ("Exp", [X], {"base": 2.0, "shift": 1.0}, [np.exp2(X + 1)]),
    ("Log", [X], {"base": 2.0, "scale": 3.0, "shift": 1.0}, [np.log2(3 * X + 1)]),
    ("ReduceSum", [X, zeros(0, dtype=np.int64)], {"noop_with_empty_axes": True}, [X]),
    ("ReduceSum", [X, zeros(0, dtype=np.int64)], {}, [np.array(15, np.float32)]),
    ("MatMulV2", [X, Y], {"transpose_x1": True, "offset_x": 0}, [X.T @ Y]),
    ("Cast", [X], {"dst_type": 3}, [X.astype(np.int32)]),
    ("Identity", [X], {}, [X]),
    ("Relu", [Y], {}, [np.maximum(Y, 0)]),
    ("Transpose", [X, [1, 0]], {}, [X.T.copy()]),
    ("ConcatD", [X, Y], {"concat_dim": 1}, [np.concatenate([X, Y], 1)]),
    ("ReduceSum", [X, [1]], {"keep_dims": False}, [np.array([3, 12], np.float32)]),
    ("Fill", [[2, 2], np.array([7], np.float32)], {}, [np.full((2, 2), 7, np.float32)]),
    ("SoftmaxV2", [zeros(1, 4)], {"axes": (1,)}, [np.full((1, 4), 0.25, np.float32)]),
    ("Swish", [Y], {"scale": 1.0}, [np.array([
        [-0.2384058, -0.2689414, 0], [0.7310586, 1.7615942, 2.8577224]], np.float32)]),
    ("Mish", [zeros(1)], {}, [zeros(1)]),
    ("FastGelu", [np.array([1], np.float32)], {}, [np.array([0.8457958], np.float32)]),
    ("LeftShift", [np.array([1, 3], np.int32), [2]], {}, [np.array([4, 12], np.int32)]),
    ("RightShift", [np.array([-8, 5], np.int32), [1]], {}, [np.array([-4, 2], np.int32)]),
    ("LogSpaceD", [zeros(3)], {"start": 0.0, "end": 2.0, "steps": 3, "base": 10.0}, [
        np.array([1, 10, 100], np.float32)]),
    ("OneHotD", [np.array([1, 0], np.int32), zeros(1) + 1, zeros(1)], {"depth": 3}, [
        np.array([[0, 1, 0], [1, 0, 0]], np.float32)]),
    ("ArgMaxWithValue", [X], {"dimension": 1}, [
        np.array([2, 2], np.int32), np.array([2, 5], np.float32)]),
    ("ArgMinWithValue", [X], {"dimension": 0, "keep_dims": True}, [
        zeros(1, 3, dtype=np.int32), X[:1]]),
    ("SortV2", [X], {"axis": 1, "descending": True}, [X[:, ::-1].copy()]),
    ("Slice", [X, [0, 1], [2, -1]], {}, [X[:, 1:].copy()]),
    ("StridedSlice", [X, [0, 0], [2, 3], [1, 2]], {"shrink_axis_mask": 0}, [X[:, ::2].copy()]),
    ("Pad", [X, [0, 0, 1, 0]], {}, [np.pad(X, ((0, 0), (1, 0)))]),
    ("ConfusionTransposeD", [X], {"perm": (1, 0), "shape": (6,), "transpose_first": True}, [
        X.T.ravel()]),
    ("SoftmaxCrossEntropyWithLogits", [zeros(1, 4), np.eye(4, dtype=np.float32)[:1]], {}, [
        np.array([1.3862944], np.float32), np.array([[-0.75, 0.25, 0.25, 0.25]], np.float32)]),
    ("Conv2D", [X.reshape(1, 1, 2, 3), np.ones((1, 1, 2, 2), np.float32)], {
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1)}, [
        np.array([[[[8, 12]]]], np.float32)]),
    ("Conv2DTranspose", [[1, 1, 2, 4], X.reshape(1, 1, 2, 3), np.ones((1, 1, 1, 2), np.float32)], {
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1)}, [
        np.array([[[[0, 1, 3, 2], [3, 7, 9, 5]]]], np.float32)]),
    ("CdistGrad", [np.array(each, np.float32) for each in (
        [[[1, 1]]], [[[3, 0]]], [[[0, 4]]], [[[5, 5]]])], {"p": 2.0}, [
        np.array([[0.6, -0.8]], np.float32)]),
    ("LpNormReduceV2", [Y], {"p": 3.0, "axes": (1,)}, [np.array([9, 36], np.float32)]),
    ("LpNormReduceV2", [Y], {"p": math.inf, "axes": (1,)}, [np.array([2, 3], np.float32)]),
    ("LpNormUpdateV2", [np.array([8], np.float32)], {"p": 3.0}, [np.array([2], np.float32)]),
    ("Cdist", [X[:, None], Y[None]], {"p": 2.0}, [
        np.array([[12**0.5, 3**0.5], [75**0.5, 12**0.5]], np.float32)]),
    ("TransData", [X], {"src_format": "ND", "dst_format": "FRACTAL_NZ"}, [
        np.pad(X, ((0, 14), (0, 13)))[None, None]]),
    ("TransData", [np.pad(X, ((0, 14), (0, 13)))[None, None]], {
        "src_format": "FRACTAL_NZ", "dst_format": "ND"}, [X]),
    ("TransData", [X.reshape(1, 6, 1, 1)], {"src_format": "NCHW", "dst_format": "NC1HWC0"}, [
        np.pad(X.ravel(), (0, 10)).reshape(1, 1, 1, 1, 16)]),
    ("TransData", [np.pad(X.ravel(), (0, 10)).reshape(1, 1, 1, 1, 16)], {
        "src_format": "NC1HWC0", "dst_format": "NCHW"}, [X.reshape(1, 6, 1, 1)]),
]  # fmt: skip


class TestExecution:
    @pytest.mark.parametrize(("name", "inputs", "attributes", "results"), CASES)
    def test_it_computes(
        self, name: str, inputs: list[Any], attributes: dict[str, Any], results: list[Any]
    ) -> None:
        before = pyaclnn.mock.violations(), pyaclnn.mock.alive()
        status, found = execute(
            name, inputs, [np.zeros_like(each) for each in results], **attributes
        )
        assert status == 0, npu.message()
        for one, other in zip(found, results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        assert (pyaclnn.mock.violations(), pyaclnn.mock.alive()) == before

    def test_singular_values(self) -> None:
        status, (values, left, right) = execute(
            "Svd", [X], [zeros(2), zeros(2, 2), zeros(3, 2)], compute_uv=True
        )
        assert status == 0
        np.testing.assert_allclose(values, np.linalg.svd(X)[1], rtol=1e-5)
        np.testing.assert_allclose(left * values @ right.T, X, atol=1e-5)

    def test_an_operator_without_kernel_says_so(self) -> None:
        status, _ = execute("NonMaxSuppressionV7", [X], [zeros(2, 3)])
        assert status == 999001
        assert "no kernel for the single operator NonMaxSuppressionV7" in npu.message()

    @pytest.mark.parametrize(
        ("compiled", "wanted"), [((2, 3), 0), ((-1, 3), 0), ((-2,), 0), ((2, 4), 100024)]
    )
    def test_a_compiled_operator_serves_its_shapes(
        self, compiled: tuple[int, ...], wanted: int
    ) -> None:
        kind = f"Abs{len(compiled)}{sum(compiled)}"  # what was compiled stays so
        desc = [ffi.new("aclTensorDesc *[1]", [describe(dims)]) for dims in (compiled, (2, 3))]
        buffer = ffi.new("aclDataBuffer *[1]", [DEAD])
        call("aclopCompile", kind.encode(), 1, desc[0], 0, NULL, NULL, 0, 0, NULL)
        for run in (lib.aclopExecute, lib.aclopExecuteV2):
            code = run(kind.encode(), 1, desc[1], buffer, 0, NULL, NULL, NULL, NULL)
            assert code == (wanted or 100000)  # what is compiled has no live buffer then
            assert ("no operator Abs" in npu.message()) == bool(wanted)
        for each in desc:
            lib.aclDestroyTensorDesc(each[0])

    def test_no_operator_is_compiled_of_dead_descriptions(self) -> None:
        dead = ffi.new("aclTensorDesc *[1]", [ffi.cast("aclTensorDesc *", 0xDEAD)])
        assert lib.aclopCompile(b"Ceil", 1, dead, 0, NULL, NULL, 0, 0, NULL) == 100000
        assert lib.aclopCompile(b"Ceil", 1, NULL, 0, NULL, NULL, 0, 0, NULL) == 100000

    @pytest.mark.parametrize(
        ("name", "inputs", "attributes", "told"),
        [
            ("Relu", [X], {"negative_slope": 0.5}, "attribute negative_slope is 0.5"),
            ("MatMul", [X, Y], {"transpose_y": True}, "the kernel's attributes: enable_hf32"),
            ("GatherV2", [X, [1], [0]], {"batch_dims": 1}, "the kernel computes only 0"),
            ("PadV3", [X, [0, 0, 0, 0]], {"mode": "reflect"}, "attribute mode is reflect"),
            ("Relu", [zeros(300, 300)], {"negative_slope": 0.5}, "attribute negative_slope"),
            ("SoftmaxV2", [X], {"axes": (0, 1)}, "axes (0, 1), where there must be one"),
            ("Conv2D", [X.reshape(1, 1, 2, 3), np.ones((1, 1, 1, 1), np.float32)], {
                "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 1), "dilations": (1, 1, 1, 1)},
             "pads (0, 0, 0, 1), which differ"),
        ],
    )  # fmt: skip
    def test_an_attribute_that_no_kernel_heeds_is_refused(
        self, name: str, inputs: list[Any], attributes: dict[str, Any], told: str
    ) -> None:
        status, _ = execute(name, inputs, [zeros(2, 3)], **attributes)
        assert status == 999001
        assert told in npu.message()

    def test_attributes_that_do_not_fit_stop_nothing(self) -> None:
        status, _ = execute(
            "TransData", [X], [zeros(2, 3)], src_format="ND", dst_format="FRACTAL_Z"
        )
        assert status == 999001
        assert "FRACTAL_Z" in npu.message()
        assert lib.aclrtSynchronizeStream(NULL) == 0

    def test_an_index_outside_is_an_error_of_the_data(self) -> None:
        status, _ = execute("GatherV2", [X, np.array([5], np.int64), [0]], [zeros(1, 3)])
        assert status == 507015
        assert "ge:GatherV2: index has an element 5; it must be in [0, 1]" in npu.message()

    def test_what_is_no_live_object_is_refused(self) -> None:
        buffer = ffi.new("aclDataBuffer *[1]", [DEAD])
        desc = ffi.new("aclTensorDesc *[1]", [describe((1,))])
        more = (NULL, 0, 0, NULL, NULL)
        code = lib.aclopCompileAndExecute(b"Relu", 1, desc, buffer, 0, NULL, NULL, *more)
        assert code == 100000
        assert lib.aclopCompileAndExecute(NULL, 0, NULL, NULL, 0, NULL, NULL, *more) == 100000
        assert lib.aclopCompileAndExecute(b"Relu", 1, NULL, NULL, 0, NULL, NULL, *more) == 100000
        lib.aclDestroyTensorDesc(desc[0])

    def test_attributes_of_every_type(self) -> None:
        attr = lib.aclopCreateAttr()
        for name, *values in (
            ("Bool", 1), ("Int", -3), ("Float", 0.5), ("String", b"text"), ("DataType", FLOAT),
            ("ListBool", 2, [1, 0]), ("ListInt", 2, [1, 2]), ("ListFloat", 1, [0.5]),
            ("ListDataType", 1, [FLOAT]), ("ListString", 1, [ffi.new("char[]", b"a")]),
            ("ListListInt", 1, [2], [ffi.new("int64_t[]", [1, 2])]),
        ):  # fmt: skip
            for _ in range(2):  # the second replaces the first
                call(f"aclopSetAttr{name}", attr, b"value", *values)
            assert getattr(lib, f"aclopSetAttr{name}")(NULL, b"value", *values) == 100000
            assert getattr(lib, f"aclopSetAttr{name}")(attr, NULL, *values) == 100000
        lib.aclopDestroyAttr(attr)
        lib.aclopDestroyAttr(NULL)
