# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .stub_tree import HEADERS, INCLUDE, LEVELS, included_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from .declared import Declared

# The vendor's headers do not bring them either.
_ALONE = {
    "acl/acl_op_compiler.h",
    *(f"aclnn/opdev/{name}.h" for name in ("float4_e2m1", "fp16_t")),
}


@pytest.mark.parametrize(
    ("folder", "umbrella"),
    [
        ("acl", "acl/acl.h"),
        ("aclnn", "aclnn/acl_meta.h"),
        ("opdev", "aclnn/acl_meta.h"),
        ("hccl", "hccl/hccl.h"),
    ],
)
def test_the_umbrella_reaches_every_header_of_its_folder(folder: str, umbrella: str) -> None:
    expected = {header for header in HEADERS if header.startswith(f"{folder}/")}
    assert expected
    assert expected - included_by(umbrella) == expected & _ALONE


def test_the_vendors_include_paths_exist() -> None:
    assert {
        "acl/acl.h",
        "acl/acl_base.h",
        "acl/acl_rt.h",
        "acl/error_codes/ge_error_codes.h",
        "acl/error_codes/rt_error_codes.h",
        "aclnn/acl_meta.h",
        "aclnn/aclnn_base.h",
        "opdev/op_errno.h",
    } <= set(HEADERS)


def test_the_base_of_operators_brings_tensors() -> None:
    assert "aclnn/acl_meta.h" in included_by("aclnn/aclnn_base.h")


def test_the_header_that_operators_include_brings_tensors_and_streams() -> None:
    assert {"aclnn/acl_meta.h", "acl/base/handles.h"} <= included_by("aclnn/acl_meta.h")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("header", HEADERS)
def test_a_parser_without_a_compiler_reads_a_header(
    header: str, parse: Callable[[str, int], Declared]
) -> None:
    for level in LEVELS:
        assert parse(f'#include "{header}"\n', level).constants >= {"ACL_STUBS_CANN"}


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_keeps_the_form_of_the_house(header: str) -> None:
    text = (INCLUDE / header).read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[:2] == ["/* SPDX-License-Identifier: Apache-2.0 */", "/*"]
    assert re.findall(r"^#(?:pragma once|ifndef \w+_H_?)$", text, re.MULTILINE) == ["#pragma once"]
    assert re.search(r"[^\n]\n\Z", text)
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 200
    assert not re.search(r"[ \t]$|\t", text, re.MULTILINE)
