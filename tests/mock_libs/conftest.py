# SPDX-License-Identifier: Apache-2.0
"""Device 1 and a context of its own for every test: device 0 belongs to the other rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import ffi, lib
from .programs import Programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kept import Keep


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let every test here break rules: that is how one sees the status codes."""
    item.add_marker(pytest.mark.pyaclnn(contract=False))


@pytest.fixture(scope="session")
def _device() -> Iterator[None]:
    """Open device 1 once; nobody's current context is changed."""
    npu.load()

    def use(function: str) -> None:
        # A thread of its own, whose current context ends with it.
        npu.in_thread(lambda: npu.call(function, 1))

    use("aclrtSetDevice")
    yield
    use("aclrtResetDevice")


@pytest.fixture
def context(_device: None) -> Iterator[Any]:
    """Make a fresh context of device 1 current and forget old errors."""
    before = ffi.new("aclrtContext *")
    had_one = lib.aclrtGetCurrentContext(before) == 0
    made = npu.value("aclrtCreateContext", "aclrtContext", 1)
    npu.message()
    lib.aclrtGetLastError(0)
    yield made
    lib.aclrtSetCurrentContext(made)
    while npu.events_made:
        lib.aclrtDestroyEvent(npu.events_made.pop())  # refused if the test did so itself
    while npu.memory_to_free:
        lib.aclrtFree(npu.memory_to_free.pop())
    lib.aclrtDestroyContext(made)
    npu.message()
    lib.aclrtGetLastError(0)
    if had_one:
        npu.call("aclrtSetCurrentContext", before[0])


@pytest.fixture
def problem(context: Any) -> Iterator[npu.RmsNormGrad]:  # noqa: ARG001 (its memory needs one)
    """The arguments of an individual operator."""
    made = npu.RmsNormGrad()
    yield made
    made.close()


@pytest.fixture
def broken(context: Any) -> Iterator[npu.RmsNormGrad]:  # noqa: ARG001 (its memory needs one)
    """The same, but the kernel fails with 507015."""
    made = npu.RmsNormGrad(broken=True)
    yield made
    made.close()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, keep: Keep) -> Programs:
    """Builds and runs programs in processes of their own."""
    return Programs(tmp_path_factory.mktemp("programs"), keep)
