# SPDX-License-Identifier: Apache-2.0
"""Descriptions of tensors in datasets of offline models."""

from __future__ import annotations

import pytest

from .test_single_operator import DEAD, ND, NULL, call, describe, ffi, lib

pytestmark = pytest.mark.usefixtures("context")


def test_a_dataset_has_descriptions_of_its_own() -> None:
    data, given, bounds = lib.aclmdlCreateDataset(), describe((3, 5)), ffi.new("int64_t[2]")
    for _ in range(2):
        call("aclmdlAddDatasetBuffer", data, DEAD)
    lib.aclSetTensorDescName(given, b"images")
    call("aclSetTensorShapeRange", given, 1, [[3, 9]])
    call("aclSetTensorConst", given, ffi.new("char[]", b"abc"), 4)
    call("aclmdlSetDatasetTensorDesc", data, given, 1)
    lib.aclDestroyTensorDesc(given)
    found = lib.aclmdlGetDatasetTensorDesc(data, 1)
    assert (lib.aclGetTensorDescSize(found), lib.aclGetTensorDescFormat(found)) == (60, ND)
    assert ffi.string(lib.aclGetTensorDescName(found)) == b"images"
    assert ffi.string(ffi.cast("char *", lib.aclGetTensorDescAddress(found))) == b"abc"
    call("aclGetTensorDescDimRange", found, 0, 2, bounds)
    assert list(bounds) == [3, 9]
    assert (
        lib.aclmdlGetDatasetTensorDesc(data, 0) == NULL == lib.aclmdlGetDatasetTensorDesc(data, 2)
    )
    call("aclmdlSetDatasetTensorDesc", data, found, 0)
    call("aclmdlSetDatasetTensorDesc", data, NULL, 1)
    assert lib.aclmdlGetDatasetTensorDesc(data, 1) == NULL
    assert lib.aclGetTensorDescElementCount(lib.aclmdlGetDatasetTensorDesc(data, 0)) == 15
    assert lib.aclmdlSetDatasetTensorDesc(data, NULL, 2) == 100000
    assert lib.aclmdlSetDatasetTensorDesc(NULL, NULL, 0) == 100000
    call("aclmdlDestroyDataset", data)
