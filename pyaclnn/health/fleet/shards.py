# SPDX-License-Identifier: Apache-2.0
"""Sharded calls: an operator on parts of a batch, each on an NPU; lost shards are repeated."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn import ops
from pyaclnn.base.errors import DeviceLostError
from pyaclnn.health.fleet.survey import FleetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["ATTEMPTS", "ShardLostError", "added", "compute", "place", "together"]

ATTEMPTS: Final = 3
"""Number of times that a shard is tried, each time on another node if there is one."""


_BY_RAY: Final = 1
"""Number of times that Ray itself repeats a shard, above all one whose result is lost later."""


class ShardLostError(FleetError):
    """A shard was lost as often as it was tried, or its arrays were; the message names it."""


def place(nodes: Sequence[str], home: str | None, number: int, attempt: int) -> str:
    """Return the node on which a shard is tried: where it lies at first, then on others.

    Args:
        nodes: The nodes that have NPUs.
        home: The node on which the shard lies, if it is known.
        number: The number of the shard.
        attempt: Number of attempts before.
    """
    first = nodes.index(home) if home in nodes else number
    return nodes[(first + attempt) % len(nodes)]


def together(**lists: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what belongs to each shard.

    Args:
        lists: By the names of arguments, something for each shard.

    Raises:
        ValueError: The lists are not equally long, or empty.
    """
    lengths = {name: len(shards) for name, shards in lists.items()}
    if len(set(lengths.values())) != 1 or not next(iter(lengths.values())):
        given = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"{given} shards; each must have the same number, and at least one")
    return list(zip(*lists.values(), strict=True))


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
        returns: Number of its results, at least 2: a shard is done when the second is there.
        attempts: Number of tries of a shard.

    Returns:
        For each shard a reference to its first result, and the others.

    Raises:
        FleetError: No node has an NPU.
        ShardLostError: A shard was lost ``attempts`` times, or an array of it was.
    """
    affinity = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    nodes = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"] and n["Resources"].get("NPU"))
    if not nodes:
        raise FleetError("the cluster has no NPU to compute on")
    remote = ray.remote(num_cpus=0, resources={"NPU": 1}, max_retries=_BY_RAY, num_returns=returns)
    call = remote(_call)
    name = work if isinstance(work, str) else work.__name__.lstrip("_")
    homes = [_homes(ray, shard) for shard in shards]

    def submit(number: int, attempt: int) -> list[Any]:
        node = place(nodes, homes[number][0], number, attempt)
        strategy = affinity(node, soft=True)
        placed = call.options(scheduling_strategy=strategy)
        references: list[Any] = placed.remote(work, *shards[number])
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
                if isinstance(cause, ray.exceptions.ObjectLostError):
                    raise ShardLostError(
                        f"shard {number} of {len(shards)} of {name} cannot be computed: an array "
                        f"of it was lost with {_gone(ray, homes[number])}, and Ray cannot make it "
                        "again; give it once more, or let a task make it that Ray may repeat "
                        "(max_retries)"
                    ) from error
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


def _homes(ray: Any, arguments: Sequence[Any]) -> list[str | None]:
    """For each argument the node on which it lies, if it lies on any but in this process."""
    references = [one for one in arguments if isinstance(one, ray.ObjectRef)]
    found = ray.experimental.get_object_locations(references) if references else {}

    def home(argument: Any) -> str | None:
        # Ray does not report what another process owns.
        known = found.get(argument, {}) if isinstance(argument, ray.ObjectRef) else {}
        return next(iter(known.get("node_ids", ())), None)

    return [home(argument) for argument in arguments]


def _gone(ray: Any, homes: Sequence[str | None]) -> str:
    """The nodes of these that are no more, by name and id."""
    gone = [
        f"node {node['NodeName']!r} ({node['NodeID'][:8]})"
        for node in ray.nodes()
        if node["NodeID"] in homes and not node["Alive"]
    ]
    return " and ".join(gone) or "its node or its owner"


def _call(work: str | Callable[..., tuple[Any, ...]], *arguments: Any) -> tuple[Any, ...]:
    """Run work on an NPU."""
    call = getattr(ops, work) if isinstance(work, str) else work
    return tuple(call(*arguments))
