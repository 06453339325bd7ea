# SPDX-License-Identifier: Apache-2.0
"""The objects of libnnopbase: creating, asking, changing, destroying."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

pytestmark = pytest.mark.usefixtures("context")
SOMEWHERE = ffi.cast("void *", 0x1000)


def create(
    dims: list[int] | None,
    storage: list[int] | None,
    *,
    strides: list[int] | None = None,
    offset: int = 0,
    counts: tuple[int, int] | None = None,
) -> Any:
    """Call aclCreateTensor; None is NULL."""
    rank, storage_rank = counts or (len(dims or ()), len(storage or ()))
    return lib.aclCreateTensor(
        dims or NULL, rank, 0, strides or NULL, offset, 2, storage or NULL, storage_rank, SOMEWHERE
    )


def numbers(getter: str, made: Any) -> list[int]:
    """Return the array that a getter allocated, and free it as a C caller does."""
    items, count = ffi.new("int64_t **"), ffi.new("uint64_t *")
    npu.call(getter, made, items, count)
    answer = [items[0][i] for i in range(count[0])]
    ctypes.CDLL(None).free(ctypes.c_void_p(int(ffi.cast("uintptr_t", items[0]))))
    return answer


class TestTensor:
    @pytest.mark.parametrize(
        ("dims", "storage", "counts", "made"),
        [
            (None, [4], (1, 1), False),
            ([4], None, (1, 1), False),
            (None, None, (0, 0), True),
            ([0, 3], [0, 3], None, True),
            ([-1], [4], None, True),
            ([1] * 25, [1] * 25, None, True),
            ([1] * 26, [4], None, False),
            ([4], [1] * 26, None, False),
        ],
    )
    def test_creating(
        self,
        dims: list[int] | None,
        storage: list[int] | None,
        counts: tuple[int, int] | None,
        made: bool,
    ) -> None:
        tensor = create(dims, storage, counts=counts)
        assert (tensor != NULL) == made
        assert (npu.message() == "") == made
        npu.call("aclDestroyTensor", tensor)

    def test_getters(self) -> None:
        tensor = create([2, 3, 4], [100], strides=[1, 8, 2], offset=5)
        assert numbers("aclGetViewShape", tensor) == [2, 3, 4]
        assert numbers("aclGetViewStrides", tensor) == [1, 8, 2]
        assert numbers("aclGetStorageShape", tensor) == [100]
        for getter, ctype, expected in (
            ("aclGetViewOffset", "int64_t *", 5),
            ("aclGetFormat", "aclFormat *", 2),
            ("aclGetDataType", "aclDataType *", 0),
            ("aclGetRawTensorAddr", "void **", SOMEWHERE),
        ):
            result = ffi.new(ctype)
            npu.call(getter, tensor, result)
            assert result[0] == expected
        npu.call("aclDestroyTensor", tensor)

    def test_strides_are_contiguous_unless_given(self) -> None:
        tensor = create([2, 3, 4], [24])
        assert numbers("aclGetViewStrides", tensor) == [12, 4, 1]
        npu.call("aclDestroyTensor", tensor)

    @pytest.mark.parametrize(
        "getter", ["aclGetViewShape", "aclGetViewStrides", "aclGetStorageShape"]
    )
    def test_null_in_list_getters(self, getter: str) -> None:
        tensor, items, count = create([4], [4]), ffi.new("int64_t **"), ffi.new("uint64_t *")
        function = getattr(lib, getter)
        assert function(NULL, items, count) == 161001
        assert function(tensor, NULL, count) == 161001
        assert function(tensor, items, NULL) == 161001
        npu.call("aclDestroyTensor", tensor)
        assert function(tensor, items, count) == 161002

    @pytest.mark.parametrize(
        ("getter", "ctype"),
        [
            ("aclGetViewOffset", "int64_t *"),
            ("aclGetFormat", "aclFormat *"),
            ("aclGetDataType", "aclDataType *"),
            ("aclGetRawTensorAddr", "void **"),
        ],
    )
    def test_null_in_getters(self, getter: str, ctype: str) -> None:
        tensor = create([4], [4])
        assert getattr(lib, getter)(NULL, ffi.new(ctype)) == 161001
        assert getattr(lib, getter)(tensor, NULL) == 161001
        npu.call("aclDestroyTensor", tensor)

    def test_initialising_keeps_what_is_not_given(self) -> None:
        tensor = create([2, 3], [6], strides=[1, 2], offset=1)
        npu.call("aclInitTensor", tensor, NULL, 0, 1, NULL, 4, 2, NULL, 0, NULL)
        assert numbers("aclGetViewShape", tensor) == [2, 3]
        assert numbers("aclGetViewStrides", tensor) == [1, 2]
        assert numbers("aclGetStorageShape", tensor) == [6]
        address, offset = ffi.new("void **"), ffi.new("int64_t *")
        npu.call("aclGetRawTensorAddr", tensor, address)
        npu.call("aclGetViewOffset", tensor, offset)
        assert (address[0], offset[0]) == (SOMEWHERE, 4)
        npu.call("aclInitTensor", tensor, [5], 1, 1, NULL, 0, 2, [5], 1, SOMEWHERE + 8)
        assert numbers("aclGetViewShape", tensor) == [5]
        assert numbers("aclGetViewStrides", tensor) == [1]
        npu.call("aclDestroyTensor", tensor)
        assert lib.aclInitTensor(NULL, NULL, 0, 0, NULL, 0, 2, NULL, 0, NULL) == 161001

    def test_the_address_can_be_set(self) -> None:
        tensor, address = create([4], [4]), ffi.new("void **")
        npu.call("aclSetRawTensorAddr", tensor, SOMEWHERE + 16)
        npu.call("aclGetRawTensorAddr", tensor, address)
        assert address[0] == SOMEWHERE + 16
        assert lib.aclSetRawTensorAddr(NULL, SOMEWHERE) == 161001
        npu.call("aclDestroyTensor", tensor)


KINDS = ["Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList"]


def any_of(kind: str) -> Any:
    """Make some object of a kind."""
    if kind == "Tensor":
        return create([4], [4])
    if kind == "Scalar":
        return lib.aclCreateScalar(ffi.new("float *", 1.5), lib.ACL_FLOAT)
    return getattr(lib, f"aclCreate{kind}")(NULL, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_destroying(kind: str) -> None:
    made, destroy = any_of(kind), getattr(lib, f"aclDestroy{kind}")
    assert destroy(NULL) == 0
    assert destroy(made) == 0
    assert destroy(made) == 161002
    assert f"no live acl{kind}" in npu.message()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_an_object_of_another_kind_is_refused(kind: str, other: str) -> None:
    made = any_of(kind)
    as_other = ffi.cast(f"acl{other} *", made)
    assert getattr(lib, f"aclDestroy{other}")(as_other) == (0 if other == kind else 161002)
    getattr(lib, f"aclDestroy{kind}")(made)


class TestArrays:
    @pytest.mark.parametrize("kind", KINDS[2:])
    def test_null_makes_an_empty_one(self, kind: str) -> None:
        size = ffi.new("uint64_t *", 9)
        made = getattr(lib, f"aclCreate{kind}")(NULL, 7)
        npu.call(f"aclGet{kind}Size", made, size)
        assert size[0] == 0
        npu.call(f"aclDestroy{kind}", made)

    @pytest.mark.parametrize(
        ("kind", "values"),
        [("IntArray", [1, 2, 3]), ("FloatArray", [0.5]), ("BoolArray", [True, False])],
    )
    def test_size(self, kind: str, values: list[Any]) -> None:
        size = ffi.new("uint64_t *")
        made = getattr(lib, f"aclCreate{kind}")(values, len(values))
        npu.call(f"aclGet{kind}Size", made, size)
        assert size[0] == len(values)
        assert getattr(lib, f"aclGet{kind}Size")(NULL, size) == 161001
        assert getattr(lib, f"aclGet{kind}Size")(made, NULL) == 161001
        npu.call(f"aclDestroy{kind}", made)

    def test_too_large_is_null(self) -> None:
        assert lib.aclCreateIntArray(ffi.new("int64_t *"), 2**62) == NULL


class TestLists:
    def test_a_list_owns_its_elements(self) -> None:
        tensors = [create([4], [4]), NULL, create([2], [2])]
        made = lib.aclCreateTensorList(tensors, 3)
        size = ffi.new("uint64_t *")
        npu.call("aclGetTensorListSize", made, size)
        assert size[0] == 3
        npu.call("aclDestroyTensorList", made)
        assert lib.aclDestroyTensor(tensors[0]) == 161002

    def test_a_scalar_list_too(self) -> None:
        scalar = any_of("Scalar")
        npu.call("aclDestroyScalarList", lib.aclCreateScalarList([scalar, scalar], 2))
        assert lib.aclDestroyScalar(scalar) == 161002


@pytest.mark.parametrize(
    ("dtype", "made"),
    [
        ("ACL_BOOL", True),
        ("ACL_FLOAT16", True),
        ("ACL_BF16", True),
        ("ACL_FLOAT", True),
        ("ACL_COMPLEX64", True),
        ("ACL_COMPLEX128", True),
        ("ACL_STRING", False),
        ("ACL_DT_UNDEFINED", False),
        ("ACL_INT4", False),
    ],
)
def test_scalar(dtype: str, made: bool) -> None:
    value = ffi.new("char[16]")
    scalar = lib.aclCreateScalar(value, getattr(lib, dtype))
    assert (scalar != NULL) == made
    npu.call("aclDestroyScalar", scalar)
    assert lib.aclCreateScalar(NULL, getattr(lib, dtype)) == NULL


def test_aclnn_init_and_finalize() -> None:
    assert lib.aclnnInit(NULL) == lib.aclnnFinalize() == 0
