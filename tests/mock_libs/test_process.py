# SPDX-License-Identifier: Apache-2.0
"""aclInit and aclFinalize, versions and data types."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

FIRST, SECOND, MISSING = "@first.json", "@second.json", "@missing.json"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        pytest.param([("aclInit", None)], [0], id="init"),
        pytest.param([("aclInit", "")], [0], id="an empty path is no path"),
        pytest.param([("aclInit", FIRST)], [0], id="init with a file"),
        pytest.param([("aclInit", MISSING)], [100003], id="no such file"),
        pytest.param([("aclInit", "@")], [100003], id="a folder is no file"),
        pytest.param([("aclInit", None), ("aclInit", None)], [0, 100002], id="init twice"),
        pytest.param(
            [("aclInit", None), ("aclInit", MISSING)],
            [0, 100002],
            id="the second init does not even open its file",
        ),
        pytest.param([("aclFinalize",)], [0], id="finalize before any init succeeds once"),
        pytest.param([("aclFinalize",), ("aclFinalize",)], [0, 100037], id="and only once"),
        pytest.param(
            [("aclInit", None), ("aclInit", None), ("aclFinalize",), ("aclFinalize",)],
            [0, 100002, 0, 100037],
            id="finalize does not count inits",
        ),
        pytest.param(
            [("aclInit", None), ("aclFinalize",), ("aclInit", None), ("aclFinalize",)],
            [0, 0, 0, 0],
            id="init again after finalize",
        ),
        pytest.param(
            [("aclInit", None), ("aclFinalize",), ("aclInit", SECOND)],
            [0, 0, 100000],
            id="no file, then another configuration",
        ),
        pytest.param(
            [("aclInit", FIRST), ("aclFinalize",), ("aclInit", SECOND)],
            [0, 0, 100000],
            id="another configuration after finalize",
        ),
        pytest.param(
            [("aclInit", FIRST), ("aclFinalize",), ("aclInit", FIRST)],
            [0, 0, 0],
            id="the same configuration after finalize",
        ),
        pytest.param(
            [("aclInit", MISSING), ("aclInit", SECOND)],
            [100003, 0],
            id="a failed init leaves no configuration",
        ),
    ],
)
def test_init_and_finalize(
    programs: Programs, tmp_path: Path, steps: list[tuple[Any, ...]], codes: list[int]
) -> None:
    (tmp_path / "first.json").write_text("{}", encoding="utf-8")
    (tmp_path / "second.json").write_text('{"max_opqueue_num": "20000"}', encoding="utf-8")
    code = "codes = []\n"
    for name, *arguments in steps:
        given = [
            "NULL" if a is None else repr(a.replace("@", f"{tmp_path}/").encode())
            for a in arguments
        ]
        code += f"codes.append(lib.{name}({', '.join(given)}))\n"
    result = programs.python(code + "print(codes)")
    assert json.loads(result.stdout) == codes, result.stderr


def test_nothing_needs_init(programs: Programs) -> None:
    result = programs.python(
        "call('aclFinalize'); call('aclrtSetDevice', 0); call('aclrtFree', device_memory(8))\n"
        "call('aclrtDestroyStream', stream()); call('aclrtResetDevice', 0); print('fine')"
    )
    assert result.stdout == "fine\n", result.stderr


@pytest.mark.usefixtures("context")
class TestVersions:
    def test_interface_version(self) -> None:
        numbers = ffi.new("int32_t[3]")
        assert lib.aclrtGetVersion(numbers, numbers + 1, numbers + 2) == 0
        assert list(numbers) == [1, 13, 0]

    def test_package_version_is_that_of_the_release(self) -> None:
        version = ffi.new("aclCANNPackageVersion *")
        assert lib.aclsysGetCANNVersion(lib.ACL_PKG_NAME_CANN, version) == 0
        assert ffi.string(version.version) == b"8.1.RC1"
        assert ffi.string(version.patchVersion) == b""

    @pytest.mark.parametrize("name", [-1, 99])
    def test_no_such_package(self, name: int) -> None:
        version = ffi.new("aclCANNPackageVersion *")
        assert lib.aclsysGetCANNVersion(ffi.cast("aclCANNPackageName", name), version) == 100000

    def test_null_is_refused(self) -> None:
        number = ffi.new("int32_t *")
        assert lib.aclrtGetVersion(number, NULL, number) == 100000
        assert lib.aclsysGetCANNVersion(lib.ACL_PKG_NAME_CANN, NULL) == 100000
        assert lib.aclGetCannAttribute(lib.ACL_CANN_ATTR_BF16, NULL) == 100000
        assert lib.aclGetCannAttributeList(NULL, NULL) == 100000


@pytest.mark.usefixtures("context")
class TestDataTypes:
    @pytest.mark.parametrize(
        ("name", "size"),
        [
            ("ACL_BOOL", 1),
            ("ACL_INT8", 1),
            ("ACL_FLOAT16", 2),
            ("ACL_BF16", 2),
            ("ACL_FLOAT", 4),
            ("ACL_INT32", 4),
            ("ACL_DOUBLE", 8),
            ("ACL_COMPLEX64", 8),
            ("ACL_COMPLEX128", 16),
            ("ACL_STRING", 0),
            ("ACL_DT_UNDEFINED", 0),
        ],
    )
    def test_size(self, name: str, size: int) -> None:
        assert lib.aclDataTypeSize(getattr(lib, name)) == size

    def test_every_half_number_converts_to_float_and_back(self) -> None:
        bits = np.arange(1 << 16, dtype=np.uint16)
        expected = bits.view(np.float16).astype(np.float32)
        got = np.array([lib.aclFloat16ToFloat(int(b)) for b in bits], np.float32)
        np.testing.assert_array_equal(got, expected)
        numbers = ~np.isnan(expected)
        back = [lib.aclFloatToFloat16(float(v)) for v in expected[numbers]]
        np.testing.assert_array_equal(np.array(back, np.uint16), bits[numbers])

    def test_float_rounds_to_half_as_numpy_does(self) -> None:
        values = np.random.default_rng(5).integers(0, 1 << 32, 20000, np.uint32).view(np.float32)
        values = values[np.isfinite(values)]
        halfway = np.arange(1, 2000, dtype=np.float32) * np.float32(2.0**-25)
        values = np.concatenate([values, halfway, [65519.0, 65520.0]]).astype(np.float32)
        with np.errstate(over="ignore"):
            expected = values.astype(np.float16).view(np.uint16)
        got = [lib.aclFloatToFloat16(float(v)) for v in values]
        np.testing.assert_array_equal(np.array(got, np.uint16), expected)


_REAP = """
import os
call('aclrtSetDevice', 0)
call('aclrtSynchronizeDevice')
if os.fork() == 0:
    os._exit(3)
ended = []
try:
    while True:
        ended.append(os.waitstatus_to_exitcode(os.wait()[1]))
except ChildProcessError:
    call('aclrtResetDevice', 0)
print(ended)
"""


def test_a_program_whose_devices_are_forks_waits_for_its_own_children_alone(
    programs: Programs,
) -> None:
    done = programs.python(_REAP, PYACLNN_MOCK_FORK_SERVER=str(os.getpid()))
    assert (done.returncode, done.stdout) == (0, "[3]\n"), done.stderr
