# SPDX-License-Identifier: Apache-2.0
"""Files of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyaclnn.cann.packaged import packaged_file


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("include_stubs/acl/base/data_type.h", b"/* SPDX"),
        ("mock/lib/libpyaclnn_simulator.so", b"\x7fELF"),
    ],
)
def test_a_file_is_found_by_its_path_in_the_package(name: str, start: bytes) -> None:
    assert Path(packaged_file(name)).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["mock/lib/no.so", "no/such/folder", "mock", "mock/lib"])
def test_what_is_no_file_is_named(name: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"/pyaclnn/{name} is missing: this installation"):
        packaged_file(name)
