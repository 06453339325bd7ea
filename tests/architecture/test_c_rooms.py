# SPDX-License-Identifier: Apache-2.0
"""The C side of the simulated NPU and the recorder: arrows go one way, and in no circle."""

from __future__ import annotations

import functools
import re

import pytest

from .c_graph import RECORDER, ROOT, Sources, read
from .import_graph import circle

BOTH = {"simulated NPU": ROOT, "recorder": RECORDER}
STOREYS = [
    *("model/core", "model/process", "model/memory", "model/device", "model/stream"),
    *("model/execution", "model/collectives", "model/base"),
    *("api/runtime", "api/base", "api/operators", "api/ge", "api/collectives"),
]
"""From the bottom to the top; a folder leans on those above it in this list only."""


@functools.cache
def sources(side: str = "simulated NPU") -> Sources:
    return read(BOTH[side])


def storey_of(module: str) -> str:
    return module.rpartition("/")[0]


def test_every_file_stands_in_a_storey() -> None:
    assert {storey_of(module) for module in sources().modules} == set(STOREYS)


def test_the_model_leans_on_no_entry_point() -> None:
    height = {module: STOREYS.index(storey_of(module)) for module in sources().modules}
    leans = [(module, on) for module, those in sources().graph().items() for on in those]
    upward = [(module, on) for module, on in leans if height[on] > height[module]]
    assert not upward


def test_the_recorder_is_one_folder() -> None:
    assert {storey_of(module) for module in sources("recorder").modules} == {""}
    assert len(sources("recorder").modules) > 10


@pytest.mark.parametrize("side", BOTH)
def test_no_file_leans_on_itself_by_way_of_others(side: str) -> None:
    assert circle(sources(side).graph()) == []


@pytest.mark.parametrize("side", BOTH)
def test_a_file_includes_only_what_it_uses(side: str) -> None:
    in_vain = {path: sources(side).included_in_vain(path) for path in sources(side).files}
    assert {path: found for path, found in in_vain.items() if found} == {}


def test_the_check_sees_an_include_in_vain() -> None:
    planted = Sources([("a.c", '#include "b.h"\n/* mock_b() */\n'), ("b.h", "void mock_b(void);")])
    assert planted.included_in_vain("a.c") == {"b"}


def test_entry_points_do_not_call_each_other_across_files() -> None:
    entries = {m for m in sources().modules if m.startswith("api/")}
    # Through the first one every function goes, through the second one every operator.
    gates = {"api/runtime/gate", "api/base/operator", "api/operators/library"}
    assert not {m: found for m in entries if (found := (sources().called(m) & entries) - gates)}


def test_every_exported_function_of_an_entry_point_is_defined_above_the_model() -> None:
    defined = sources().definitions
    exported = {m for name, m in defined.items() if re.match("acl|Acl|pyaclnn_", name)}
    assert exported
    assert {storey_of(module) for module in exported} == {"api/runtime", "api/base"}


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        ("", "", []),
        ('#include "b.h"\n', '#include "a.h"\n', ["a", "b"]),
        ("void b(void);\nint x(void)\n{\n    b();\n}\n", '#include "a.h"\n', ["a", "b"]),
        ('/* #include "b.h": b() */\nstatic char text[] = "b()";\n', '#include "a.h"\n', []),
    ],
)
def test_the_check_sees_a_circle_by_include_and_by_call(
    low: str, high: str, found: list[str]
) -> None:
    planted = Sources([("a.c", low), ("a.h", ""), ("b.h", high), ("b.c", "void b(void)\n{\n}\n")])
    assert sorted(set(circle(planted.graph()))) == found


def test_the_check_knows_every_function_of_the_model() -> None:
    declared = set()
    for path in ROOT.glob("model/*/*.h"):
        declared |= set(re.findall(r"\b(mock_\w+)\(", path.read_text(encoding="utf-8")))
    assert declared
    assert declared <= set(sources().definitions)
