# SPDX-License-Identifier: Apache-2.0
"""Order and owner of releases; on objects that are no C objects at all."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
import warnings
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.errors import ContextError
from pyaclnn.runtime.handle import Handle, Resource, live_handles

if TYPE_CHECKING:
    from collections.abc import Callable


class Thing(Handle):
    _kind = "thing"


class Memory(Handle):
    _kind = "memory"
    _expects_close = False


@pytest.fixture
def released() -> list[object]:
    return []


def resource(released: list[object], name: str = "a", *needs: object) -> Resource:
    return Resource("thing", name, released.append, dependencies=needs)


def test_closing_releases_once_and_says_so(released: list[object]) -> None:
    before = live_handles().get("thing", 0)
    thing = Thing(resource(released))
    assert live_handles()["thing"] == before + 1
    assert not thing.closed
    with thing:
        assert thing.pointer == "a"
    thing.close()
    assert thing.closed
    assert released == ["a"]
    assert live_handles().get("thing", 0) == before


def test_a_closed_handle_says_that_it_is_closed(released: list[object]) -> None:
    thing = Thing(resource(released))
    thing.close()
    with pytest.raises(ContextError) as caught:
        _ = thing.pointer
    assert str(caught.value) == (
        "this thing is closed.\nHint: open another one, or close it later."
    )


def test_a_borrowed_handle_releases_nothing_and_is_not_counted() -> None:
    before = live_handles()
    thing = Thing(Resource("thing", "a"))
    assert live_handles() == before
    assert not thing.owned
    thing.close()
    assert thing.closed


def test_a_pinned_resource_is_released_with_its_last_pin(released: list[object]) -> None:
    thing = Thing(resource(released))
    pinned = thing._held
    pinned.pin()
    pinned.pin()
    thing.close()
    pinned.unpin()
    assert released == []
    pinned.unpin()
    assert released == ["a"]


def test_what_an_object_depends_on_outlives_it(released: list[object]) -> None:
    device = resource(released, "device")
    stream = resource(released, "stream", device)
    device.let_go()
    assert released == []
    stream.let_go()
    assert released == ["stream", "device"]


def test_other_dependencies_are_kept_alive_and_dropped_with_the_release(
    released: list[object],
) -> None:
    owner = Memory(Resource("memory", "owner", released.append))
    borrowed = Memory(Resource("memory", "borrowed", dependencies=(owner,)))
    del owner
    gc.collect()
    assert released == []
    borrowed.close()
    gc.collect()
    assert released == ["owner"]


def test_a_forgotten_close_releases_and_warns(released: list[object]) -> None:
    with pytest.warns(ResourceWarning) as caught:  # noqa: PT031  # the warning comes from a del
        thing = Thing(resource(released))
        del thing
        gc.collect()
    assert released == ["a"]
    assert str(caught[0].message) == (
        "a thing was never closed (run with tracemalloc on to see where); use it in a 'with' "
        "statement or call close()"
    )


def test_the_warning_says_where_if_tracemalloc_runs(released: list[object]) -> None:
    tracemalloc.start()
    try:
        with pytest.warns(ResourceWarning, match=r"created at .*test_handle\.py:\d+"):  # noqa: PT031
            thing = Thing(resource(released))
            del thing
            gc.collect()
    finally:
        tracemalloc.stop()


def test_plain_memory_may_just_be_forgotten(released: list[object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = Memory(Resource("memory", "a", released.append))
        del memory
        gc.collect()
    assert released == ["a"]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_handle_cannot_be_duplicated(
    released: list[object], duplicate: Callable[[object], object]
) -> None:
    with (
        Thing(resource(released)) as thing,
        pytest.raises(TypeError, match="stands for one C object"),
    ):
        duplicate(thing)
