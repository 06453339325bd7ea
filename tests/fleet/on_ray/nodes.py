# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster on this machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MARKS", "PATIENCE", "add", "another", "id_of"]

MARKS = [
    pytest.mark.fleet,
    # Ray's own: files and sockets that it leaves to the collector.
    pytest.mark.filterwarnings("ignore"),
]
PATIENCE = 90.0
"""Seconds in which a process must begin on a machine that is busy."""


def add(cluster: Any, name: str, npus: int, **variables: str) -> Any:
    return cluster.add_node(
        num_cpus=1,
        resources={"NPU": npus},
        node_name=name,
        object_store_memory=100 << 20,
        env_vars=variables,
    )


@contextmanager
def another(cluster: Any, name: str, npus: int, **variables: str) -> Iterator[Any]:
    node = add(cluster, name, npus, **variables)
    cluster.wait_for_nodes()
    try:
        yield node
    finally:
        if node in cluster.list_all_nodes():
            # A node that does not say goodbye counts as alive until it has missed heartbeats.
            cluster.remove_node(node, allow_graceful=True)


def id_of(name: str) -> str:
    """Return Ray's id of the node with a name."""
    import ray  # noqa: PLC0415  # where it is

    (found,) = [n["NodeID"] for n in ray.nodes() if n["NodeName"] == name and n["Alive"]]
    return str(found)
