# SPDX-License-Identifier: Apache-2.0
"""Packages of operators as CANN's generator writes them run on kernels that the user gives."""

from __future__ import annotations

import ctypes
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.mock import cflags, ldflags, libdir

from .programs import BLEND, COMPILER, HERE

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

NULLPTR, INVALID, CONSUMED, NO_KERNEL, INJECTED = 161001, 161002, 561000, 999001, 561003

_HEADER = """
#include "aclnn/acl_meta.h"
aclnnStatus aclnnBlendGetWorkspaceSize(const aclTensor *x, const aclTensorList *parts,
    aclTensor *stateRef, double weight, int64_t shift, bool negate, char *mode,
    const aclIntArray *dims, const aclTensor *out, const aclTensorList *copies,
    uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlend(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
    aclrtStream stream);
"""
_PROGRAM = """
import json
import numpy as np
import pyaclnn
import pyaclnn.mock
from pyaclnn.ascendc.custom import CustomOperators

told = []
with pyaclnn.Device(0) as device:
    package = CustomOperators(%r)
    def there(*rows):
        return pyaclnn.to_device(np.array(rows, np.float32))
    x, state = there([1, 2], [3, 4]), there(9)
    parts = [there([5, 6], [7, 8]), there([9, 1], [2, 3])]
    out, copies = there([0, 0], [0, 0]), [there([0, 0], [0, 0]) for _ in parts]
    def launch(x, out):
        try:
            package.launch("aclnnBlend", x, parts, state, 0.5, 3, True, "wide", [5, 7], out, copies)
        except pyaclnn.AclError as error:
            told.append([error.code, str(error)])
    for _ in range(2):
        launch(x, out)
        device.synchronize()
    launch(None, out)
    launch(x, there([0]))
    with pyaclnn.mock.faults("NnopbaseRunForWorkspace=561003"):
        launch(x, out)
    results = (state.numpy(), out.numpy()[:1], *(copy.numpy() for copy in copies))
    told.append([each.tolist() for each in results])
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of one operator."""
    folder = tmp_path_factory.mktemp("package")
    api = folder / "op_api"
    (api / "include").mkdir(parents=True)
    (api / "lib").mkdir()
    (api / "include" / "aclnn_blend.h").write_text(_HEADER, encoding="utf-8")
    library: list[str | Path] = [
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-o",
        api / "lib" / "libcust_opapi.so",
    ]
    source = HERE / "c" / "package.cpp"
    command: list[str | Path] = [*COMPILER, *cflags(), "-Wall", "-Wextra", *library, source]
    subprocess.run([*command, *ldflags()], check=True, timeout=900)
    return folder


def _told(programs: Programs, package: Path, **environment: str) -> list[Any]:
    result = programs.python(
        _PROGRAM % str(package),
        PYACLNN_BACKEND="mock",
        ASCEND_CUSTOM_OPP_PATH=str(package),
        **environment,
    )
    assert result.returncode == 0, result.stderr
    found: list[Any] = json.loads(result.stdout)
    return found


def test_its_operator_runs_on_a_kernel_of_the_users(programs: Programs, package: Path) -> None:
    *refused, results = _told(programs, package, PYACLNN_MOCK_OPERATORS=str(BLEND))
    assert [code for code, _ in refused] == [NULLPTR, INVALID, INJECTED]
    assert "x != nullptr" in refused[0][1]
    assert results == [
        [15.0],
        [[-9.5, -2.0]],
        [[6.0, 8.0], [10.0, 12.0]],
        [[10.0, 3.0], [5.0, 7.0]],
    ]


@pytest.mark.exhaustive
def test_without_a_kernel_it_is_refused_by_name(programs: Programs, package: Path) -> None:
    first, *_ = _told(programs, package)
    assert first[0] == NO_KERNEL
    assert '@pyaclnn.mock.operator("aclnnBlend")' in first[1]


class TestTheFunctionsThemselves:
    """Called in an order that no generated code has."""

    @pytest.fixture
    def base(self) -> Any:
        library = ctypes.CDLL(f"{libdir()}/libnnopbase.so")
        library.NnopbaseGetExecutor.restype = ctypes.c_void_p
        return library

    @pytest.fixture
    def executor(self, base: Any) -> Any:
        space = ctypes.c_void_p()
        assert base.NnopbaseCreateExecutorSpace(ctypes.byref(space)) == 0
        made = base.NnopbaseGetExecutor(space, b"Nobodys", None, 0, None, 0, None, 0)
        return ctypes.c_void_p(made)

    def test_nothing_is_followed_that_is_null(self, base: Any, executor: Any) -> None:
        assert base.NnopbaseCreateExecutorSpace(None) == NULLPTR
        assert base.NnopbaseGetExecutor(None, b"Blend", None, 0, None, 0, None, 0) is None
        assert base.NnopbaseAddParamName(executor, 0, None, True) == NULLPTR
        assert base.NnopbaseAddInput(None, None, 0) != 0
        assert base.NnopbaseRunForWorkspace(None, None) != 0
        assert base.aclDestroyAclOpExecutor(executor) == 0

    @pytest.mark.parametrize(
        ("name", "taken"),
        [("Blend_2", True), ("b" * 200, True), ("b" * 201, False), ("Blend 2", False), ("", False)],
    )
    def test_an_operator_has_a_name_of_at_most_200_letters(
        self, base: Any, name: str, taken: bool
    ) -> None:
        space = ctypes.c_void_p()
        assert base.NnopbaseCreateExecutorSpace(ctypes.byref(space)) == 0
        made = base.NnopbaseGetExecutor(space, name.encode(), None, 0, None, 0, None, 0)
        assert (made is not None) is taken
        assert not taken or base.aclDestroyAclOpExecutor(ctypes.c_void_p(made)) == 0

    @pytest.mark.parametrize(
        ("length", "index", "dtype"),
        [(4, 0, 0), (8, 0, 1), (4, 0, 2), (2, 0, 3), (8, 256, 2), (8, 0, 4)],
    )
    def test_an_attribute_has_the_bytes_of_its_type_and_a_place(
        self, base: Any, executor: Any, length: int, index: int, dtype: int
    ) -> None:
        bytes_ = ctypes.create_string_buffer(b"\1" * 8, 8)
        add = base.NnopbaseAddAttrWithDtype
        size = ctypes.c_size_t
        assert add(executor, bytes_, size(length), size(index), dtype) == INVALID
        # A failed phase 1 leaves nothing behind.
        assert base.aclDestroyAclOpExecutor(executor) == CONSUMED

    def test_phase_2_before_phase_1(self, base: Any, executor: Any) -> None:
        assert base.NnopbaseRunWithWorkspace(executor, None, None, ctypes.c_uint64(0)) == CONSUMED
        assert base.aclDestroyAclOpExecutor(executor) == 0
        assert base.NnopbaseRunWithWorkspace(executor, None, None, ctypes.c_uint64(0)) == CONSUMED
