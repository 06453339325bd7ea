# SPDX-License-Identifier: Apache-2.0
"""The recorder's table says what each parameter of a function is."""

from __future__ import annotations

import pytest

from pyaclnn.capture.functions import known, recorded, roles


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("aclrtMalloc", "o>8:devPtr Q:size i:policy"),
        ("aclrtSetDevice", "i:deviceId"),
        ("aclrtCreateStream", "o>8:stream"),
        ("aclrtGetMemInfo", "i:attr o8:free o8:total"),
        ("aclrtMemcpyAsync", "h:dst Q:destMax h:src Q:count i:kind h:stream"),
        ("aclInit", "S:configPath"),
        ("aclnnAddGetWorkspaceSize", "t:self t:other a:alpha t>:out o8:workspaceSize o>8:executor"),
        ("aclnnAdd", "h:workspace Q:workspaceSize h:executor h:stream"),
        ("aclCreateIntArray", "l8,1:value Q:size"),
    ],
)
def test_parameters_follow_from_their_c_types(name: str, line: str) -> None:
    found = recorded(name)
    assert found is not None
    assert found.line.split("\t")[1] == line


def test_every_function_of_the_table_of_roles_is_recorded() -> None:
    assert [name for name in roles() if recorded(name) is None] == []


def test_a_path_is_never_a_text_of_the_trace() -> None:
    texts: dict[str, list[str]] = {"s": [], "S": []}
    for name in ("aclInit", "aclrtBinaryLoadFromFile", "aclmdlRIDebugJsonPrint"):
        found = recorded(name)
        for _, letter in found.parameters if found else ():
            texts.setdefault(letter, []).append(name)
    assert texts["s"] == []
    assert "aclInit" in texts["S"]


def test_what_has_no_declaration_is_passed_on() -> None:
    assert list(known(["notOfCann"])) == ["notOfCann\t-\tx"]
