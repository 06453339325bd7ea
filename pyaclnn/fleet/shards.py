# SPDX-License-Identifier: Apache-2.0
"""An operator on parts of one batch, each on an NPU of the cluster; what is lost is done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.errors import DeviceLostError
from pyaclnn.fleet.npu import FleetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["ATTEMPTS", "ShardLostError", "added", "compute", "place"]

ATTEMPTS: Final = 3
"""How often a shard is tried, each time on another node if there is one."""


class ShardLostError(FleetError):
    """A shard was lost as often as it was tried; the message names it, and the last reason."""


def place(nodes: Sequence[str], home: str | None, number: int, attempt: int) -> str:
    """Return the node on which a shard is tried: where it lies at first, then on others.

    Args:
        nodes: The nodes that have NPUs.
        home: The node on which the shard lies, if it is known.
        number: The number of the shard.
        attempt: How often it was tried before.
    """
    first = nodes.index(home) if home in nodes else number
    return nodes[(first + attempt) % len(nodes)]


def added(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Add what shards contribute, in the order of the shards, in float64.

    Args:
        parts: An array for each shard, all of one shape and dtype; or None for each.

    Returns:
        The sum, in that dtype; None if there are none.
    """
    present = [part for part in parts if part is not None]
    if not present:
        return None
    total = np.zeros(present[0].shape, np.float64)
    for part in present:
        total += part.astype(np.float64)
    return total.astype(present[0].dtype)


def compute(
    ray: Any,
    work: str | Callable[..., tuple[Any, ...]],
    shards: Sequence[Sequence[Any]],
    returns: int,
    attempts: int = ATTEMPTS,
) -> list[tuple[Any, tuple[Any, ...]]]:
    """Call an operator or a function on each shard, on an NPU of its first array's node.

    Args:
        ray: The module, connected.
        work: The operator, e.g. ``layer_norm_backward``, or a function of a module.
        shards: The arguments for each shard: arrays, references to them, or what is no array.
        returns: How many results it has, at least 2: a shard is done when the second is there.
        attempts: How often a shard is tried.

    Returns:
        For each shard a reference to its first result, and the others.

    Raises:
        FleetError: No node has an NPU.
        ShardLostError: A shard was lost ``attempts`` times.
    """
    from ray.util.scheduling_strategies import (  # noqa: PLC0415  # an extra
        NodeAffinitySchedulingStrategy,
    )

    nodes = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"] and n["Resources"].get("NPU"))
    if not nodes:
        raise FleetError("the cluster has no NPU to compute on")
    call = ray.remote(num_cpus=0, resources={"NPU": 1}, max_retries=0, num_returns=returns)(_call)
    name = work if isinstance(work, str) else work.__name__.lstrip("_")
    homes = [_home(ray, shard[0]) for shard in shards]

    def submit(number: int, attempt: int) -> list[Any]:
        node = place(nodes, homes[number], number, attempt)
        strategy = NodeAffinitySchedulingStrategy(node, soft=True)
        told = call.options(scheduling_strategy=strategy)
        references: list[Any] = told.remote(work, *shards[number])
        return references

    under_way = [submit(number, 0) for number in range(len(shards))]
    results = []
    for number, references in enumerate(under_way):
        mine = references
        for attempt in range(1, attempts + 1):
            try:
                others = tuple(ray.get(mine[1:]))
                break
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", None)
                if isinstance(error, ray.exceptions.RayTaskError) and not isinstance(
                    cause, DeviceLostError
                ):
                    raise  # it would be the same on every NPU
                if attempt == attempts:
                    raise ShardLostError(
                        f"shard {number} of {len(shards)} of {name} was lost {attempts} times: "
                        f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
                    ) from error
                mine = submit(number, attempt)
        results.append((mine[0], others))
    return results


def _home(ray: Any, array: Any) -> str | None:
    """The node on which an array lies, if it lies on any but in this process."""
    if not isinstance(array, ray.ObjectRef):
        return None
    found: list[str] = ray.experimental.get_object_locations([array])[array].get("node_ids", [])
    return found[0] if found else None


def _call(work: str | Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
    """What runs on an NPU."""
    import pyaclnn  # noqa: PLC0415  # in the process on the NPU

    call = getattr(pyaclnn, work) if isinstance(work, str) else work
    return tuple(call(*arguments))
