# SPDX-License-Identifier: Apache-2.0
"""Names that a package loads when they are asked for, and forks while that happens."""

from __future__ import annotations

import threading

import pytest

from pyaclnn.base import lazy


@pytest.mark.parametrize(
    ("name", "instead", "hint"),
    [
        ("to_devise", "", "; did you mean 'to_device'?"),
        ("to_devise", "call put()", "; call put()"),
        ("nothing_like_it", "", ""),
        ("_to_device", "", ""),
    ],
)
def test_a_missing_name_is_answered_by_what_is_there_instead(
    name: str, instead: str, hint: str
) -> None:
    error = lazy.no_attribute("package", name, ["to_device"], instead)
    assert str(error) == f"module 'package' has no attribute {name!r}{hint}"
    assert error.name == name


def test_a_thread_that_imports_nothing_holds_up_no_fork() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert not lazy._imports_elsewhere()
    finally:
        end.set()
        thread.join()
