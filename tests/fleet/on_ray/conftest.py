# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from .nodes import add

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_of_the_suite() -> None:
    """Ignore objects that Ray leaves in a connected process."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A cluster of three nodes with 2, 2 and 1 NPUs, to which the process is connected."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    import ray  # noqa: PLC0415  # where it is
    from ray.cluster_utils import Cluster  # noqa: PLC0415  # likewise

    before = dict(os.environ)
    os.environ["PYACLNN_BACKEND"] = "mock"
    os.environ["PYACLNN_MOCK_DEVICES"] = "8"
    os.environ.pop("PYTHONWARNINGS", None)
    made = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "resources": {"NPU": 2},
            "include_dashboard": False,
            "object_store_memory": 100 << 20,
            "node_name": "head",
        },
    )
    try:
        for name, npus in (("two", 2), ("one", 1)):
            add(made, name, npus)
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        os.environ.clear()
        os.environ.update(before)
