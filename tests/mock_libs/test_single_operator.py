# SPDX-License-Identifier: Apache-2.0
"""Data buffers, tensor descriptions, attributes, and single operators by their names in graphs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cffi
import numpy as np
import pytest

import pyaclnn.mock
from pyaclnn.facts.releases import NEWEST, simulated
from pyaclnn.mock import libdir

from . import npu
from .single_operator_cases import CASES, NCHW, X, Y, zeros

pytestmark = pytest.mark.usefixtures("context")
STUBS = Path(__file__).parents[2] / "include_stubs" / "acl"
TYPEDEFS = """
typedef int aclError; typedef int aclDataType; typedef int aclFormat; typedef int aclMemType;
typedef void *aclrtStream; typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc; aclError aclrtSynchronizeStream(aclrtStream stream);
typedef struct aclmdlDataset aclmdlDataset; aclmdlDataset *aclmdlCreateDataset(void);
aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer);
aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *desc, size_t index);
aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index);
aclError aclmdlDestroyDataset(const aclmdlDataset *dataset);
"""


def declarations() -> str:
    """The functions of the single-operator interface, which the binding does not have."""
    names = ("rt/data_buffer.h", "acl_base_mdl.h", "acl_op.h", "acl_op_compiler.h")
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
TYPES |= {np.dtype(np.uint8): 4, np.dtype(np.float64): 11}


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


def execute(
    name: str,
    inputs: list[Any],
    outputs: list[Any],
    *,
    _dims: list[tuple[int, ...]] | None = None,
    _format: int = ND,
    _view: tuple[int, ...] | None = None,
    _together: bool = False,
    **attributes: Any,
) -> tuple[int, Any]:
    """Compile and execute an operator and wait; gives the status, and the outputs.

    A list is an input on the host, None one that is left out. ``_dims`` gets the dimensions that
    the outputs have afterwards, which only the second version of the function tells. The output
    is a view of dimensions ``_view`` in the whole array; outputs lie ``_together`` at one address.
    """
    attr = lib.aclopCreateAttr()
    memory: list[Any] = []
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
        array = np.asarray(each)
        descs.append(describe(array.shape, TYPES[array.dtype]))
        call("aclSetTensorFormat", descs[-1], _format)
        if _view is not None and len(descs) > len(inputs):
            call("aclSetTensorOriginShape", descs[-1], len(_view), list(_view))
            call("aclSetTensorShape", descs[-1], array.ndim, list(array.shape))
        content = array.tobytes()
        if isinstance(each, list):
            call("aclSetTensorConst", descs[-1], content, len(content))
        shared = _together and len(descs) > len(inputs) + 1
        memory.append(memory[-1] if shared else npu.device_memory(max(len(content), 1)))
        npu.write(memory[-1], content)
        buffers.append(
            lib.aclCreateDataBuffer(ffi.cast("void *", number(memory[-1])), len(content))
        )
    count = len(inputs)
    run = lib.aclopCompileAndExecute if _dims is None else lib.aclopCompileAndExecuteV2
    status = run(
        name.encode(), count, descs[:count], buffers[:count], len(outputs), descs[count:],
        buffers[count:], attr, 0, 0, NULL, NULL,
    )  # fmt: skip
    status = status or lib.aclrtSynchronizeStream(NULL)
    found = [
        np.frombuffer(npu.read(address, out.nbytes), out.dtype).reshape(out.shape)
        for out, address in zip(outputs, memory[-len(outputs) :], strict=True)
    ]
    dims = [] if _dims is None else _dims
    for desc in descs[count:]:
        rank = lib.aclGetTensorDescNumDims(desc)
        dims.append(tuple(lib.aclGetTensorDescDim(desc, place) for place in range(rank)))
    for desc, buffer in zip(descs, buffers, strict=True):
        lib.aclDestroyTensorDesc(desc)
        call("aclDestroyDataBuffer", buffer)
    for address in {number(each): each for each in memory}.values():
        npu.call("aclrtFree", address)
    lib.aclopDestroyAttr(attr)
    return status, found


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

    def test_random_numbers_follow_a_seed(self) -> None:
        seeded = ([7], [0, 12], [1])
        for name, expected in (("StatelessRandomUniformV2", 0.5), ("StatelessRandomNormalV2", 0)):
            first, again, other = (
                execute(name, [[64, 64], *given], [zeros(64, 64)])[1][0]
                for given in (seeded, seeded, ([8], [0, 12], [1]))
            )
            assert np.array_equal(first, again)
            assert not np.array_equal(first, other)
            assert abs(first.mean() - expected) < 0.05

    def test_a_permutation_has_every_number(self) -> None:
        status, (found,) = execute("StatelessRandperm", [[9], [1], [0]], [zeros(9, dtype=np.int64)])
        assert (status, sorted(found)) == (0, [*range(9)])

    def test_a_dropout_keeps_a_share(self) -> None:
        status, (mask,) = execute(
            "StatelessDropOutGenMask",
            [[4096], np.array([0.75], np.float32), [3], [0], [0, 0]],
            [zeros(512, dtype=np.uint8)],
        )
        assert status == 0
        status, (kept,) = execute("DropOutDoMask", [zeros(4096) + 3, mask, zeros(1) + 0.75], [
            zeros(4096)])  # fmt: skip
        assert set(kept) == {0, 4}
        assert abs((kept > 0).mean() - 0.75) < 0.05

    def test_a_shorter_result_is_told_by_its_description(self) -> None:
        dims: list[tuple[int, ...]] = []
        x = np.array([0, 2, 0, 5], np.float32)
        status, (found,) = execute("NonZero", [x], [zeros(4, 1, dtype=np.int64)], _dims=dims)
        assert (status, dims, found[:2].tolist()) == (0, [(2, 1)], [[1], [3]])

    def test_numbers_of_double_on_the_host_are_refused_by_name(self) -> None:
        status, _ = execute("Mul", [X, [0.5, 0.25, 1.5]], [X])
        assert status == 999001
        assert "inputs[1] of the single operator Mul lies on the host" in npu.message()

    def test_factors_of_rows_lie_in_front_of_a_larger_output(self) -> None:
        status, (found,) = execute("Renorm", [X], [zeros(2, 3)], p=1.0, dim=0, maxnorm=6.0)
        assert status == 0, npu.message()
        np.testing.assert_allclose(found.ravel()[:2], [1, 0.5], rtol=1e-6)

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
        told = npu.message()
        assert "no kernel for the single operator NonMaxSuppressionV7" in told
        assert '@pyaclnn.mock.operator("ge:NonMaxSuppressionV7")\n    def kernel(x0):' in told
        assert "PYACLNN_MOCK_OPERATORS" in told
        assert "torch.npu.set_compile_mode(jit_compile=False)" in told
        is_newest = simulated().name == NEWEST
        assert (f"PYACLNN_MOCK_CANN={NEWEST}" in told) != is_newest

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
            ("PadV3", [X, [0, 0, 0, 0]], {"paddings_contiguous": False}, "contiguous is False"),
            ("Relu", [zeros(300, 300)], {"negative_slope": 0.5}, "attribute negative_slope"),
            ("TransposeD", [X], {}, "attribute perm is missing; the kernel has no default for it"),
            ("BiasAdd", [X, X[0]], {}, "attribute data_format is missing, and no tensor's format"),
            ("Cdist", [X[:, None], Y[None]], {"p": -2.0}, "p is -2.0; it must be 0 or more, or -1"),
            ("SoftmaxV2", [X], {"axes": (0, 1)}, "axes (0, 1), where there must be one"),
            ("Conv2D", [X.reshape(1, 1, 2, 3), np.ones((1, 1, 1, 1), np.float32)], {
                "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 1), "dilations": (1, 1, 1, 1), **NCHW},
             "pads (0, 0, 0, 1), which differ"),
            *[("MaxPoolGradWithArgmaxV1", [X[None, None]] * 2 + [np.ones(shape, np.int32)], {
                "ksize": (1, 3, 3, 1), "strides": (1, 1, 1, 1), "pads": (1, 0, 0, 1)},
               f"a mask of {shape}; it must have a batch, and 9 words or more")
              for shape in ((1, 9, 2), (1, 1, 2, 2))],
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
