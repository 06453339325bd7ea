# SPDX-License-Identifier: Apache-2.0
"""Ray cluster: its nodes, and processes on them that hold an NPU each."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.command.run import run
from pyaclnn.health.fleet.survey import FleetError, Holds, Lost, Node
from pyaclnn.health.report.record import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.health.checks.context import Options
    from pyaclnn.health.fleet.survey import Answer

__all__ = ["Cluster", "connected"]


class Probe:
    """A process that holds one NPU, which it sees as device 0; a crash is its own."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin, with more variables than the node has."""
        os.environ.update(environment)

    def holds(self) -> list[str]:
        """Return the physical ids of the NPUs that the process was given."""
        ray = import_module("ray")  # an extra
        return [str(one) for one in ray.get_runtime_context().get_accelerator_ids()["NPU"]]

    def examine(self, options: Options) -> str:
        """Examine the NPU as ``pyaclnn doctor`` does, and return the report as JSON text.

        Args:
            options: The options; the device is the only one.
        """
        return run(replace(options, devices=(0,))).to_text()


_REACHED: Final = 5.0
"""Seconds in which an address must take a connection."""
_ANSWERS: Final = 20.0
"""Seconds in which Ray must answer there, with the start of a process that asks."""
_ASK: Final = "import sys, ray._raylet as r; r.GcsClient(address=sys.argv[1])"
_BY_CLIENT: Final = "ray://"
_CLIENT: Final = (
    "RAY-103 ray:// is the address of Ray's client server, which does not tell on which node an "
    "array lies or which NPUs are free.\nRun it on a machine of the cluster, with "
    "--address HOST:PORT of the head itself (`ray start` prints it; the port is 6379 unless it was "
    "given), or without --address"
)
_RESOURCE: Final = "NPU"
_MEMORY: Final = 100 << 20


def _ray() -> Any:
    try:
        return import_module("ray")  # an extra
    except ModuleNotFoundError:
        raise FleetError("Ray is not installed here: pip install 'pyaclnn[ray]'") from None


@contextlib.contextmanager
def connected(address: str | None = None, simulate: int | None = None) -> Iterator[Any]:
    """Connect to a cluster for a with block; an existing connection is used.

    Args:
        address: Where the cluster is, as ``ray.init`` takes it, but for ``ray://``; None for
            RAY_ADDRESS, or one that runs here.
        simulate: Start a cluster here, of one node that has so many simulated NPUs.

    Yields:
        The module ``ray``.

    Raises:
        FleetError: There is no Ray, no cluster that answers, or only Ray's client server does.
    """
    ray = _ray()
    if ray.is_initialized():
        if ray.util.client.ray.is_connected():
            raise FleetError(_CLIENT)
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "auto"
    if simulate is None and address.startswith(_BY_CLIENT):
        raise FleetError(_CLIENT)
    # Ray logs that it finds no CANN, which is known.
    logging.getLogger("ray._private.accelerators.npu").setLevel(logging.CRITICAL)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if simulate is not None:
            ray.init(
                address="local",
                num_cpus=1,
                resources={_RESOURCE: simulate},
                include_dashboard=False,
                object_store_memory=_MEMORY,
                **quiet,
            )
        else:
            _reach(address)
            ray.init(address=address, **quiet)
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        raise FleetError(_no_cluster(address, error)) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Refuse an address where no Ray answers: Ray itself would try for minutes, and then abort.

    A process asks, because what waits inside Ray cannot be given up from within.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return
    socket.create_connection((host.strip("[]"), int(port)), _REACHED).close()
    asked = [sys.executable, "-c", _ASK, address]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=_ANSWERS)  # noqa: S603  # ourselves
    except subprocess.TimeoutExpired:
        raise ConnectionError(
            f"it takes connections, but no Ray has answered within {_ANSWERS:g} s"
        ) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ConnectionError(lines[-1] if lines else f"Ray ended with {done.returncode}")


def _no_cluster(address: str, error: Exception) -> str:
    where = "here" if address == "auto" else f"at {address}"
    reason = str(error).partition("\n")[0]
    return (
        f"RAY-103 no Ray cluster answers {where}: {reason}\nName one with --address HOST:PORT, "
        "start one with `ray start --head`, or try it without any: pyaclnn fleet doctor "
        "--simulate 8"
    )


class Cluster:
    """Processes on the nodes of a cluster; the engine of a survey."""

    def __init__(self, ray: Any, options: Options, environment: Mapping[str, str]) -> None:
        """Begin with a connection, what each process is to do, and variables for it."""
        self._ray = ray
        self._options = options
        self._environment = dict(environment)
        # max_calls and retries are of no use to an actor; it must not come back by itself.
        self._kind = ray.remote(
            num_cpus=0, resources={_RESOURCE: 1}, max_restarts=0, max_task_retries=0
        )(Probe)
        strategies = import_module("ray.util.scheduling_strategies")
        self._affinity = strategies.NodeAffinitySchedulingStrategy
        self._asked: dict[Any, tuple[Any, bool]] = {}
        """By what is awaited: the process, and whether it is the report."""

    def nodes(self) -> list[Node]:
        """Return the nodes that have NPUs, in the order of their names."""
        free = self._free()
        nodes = [
            Node(
                node["NodeID"],
                _name(node),
                count,
                int(free.get(node["NodeID"], {}).get(_RESOURCE, 0)),
            )
            for node in self._ray.nodes()
            if node["Alive"] and (count := int(node["Resources"].get(_RESOURCE, 0)))
        ]
        return sorted(nodes, key=lambda node: (node.name, node.id))

    def _free(self) -> dict[str, dict[str, float]]:
        state: Any = import_module("ray._private.state")  # no public module has it
        found: dict[str, dict[str, float]] = state.available_resources_per_node()
        return found

    def start(self, node: Node) -> Any:
        """Ask for a process on a node that holds an NPU, and return what stands for it."""
        place = self._affinity(node.id, soft=False)
        process = self._kind.options(scheduling_strategy=place).remote(self._environment)
        self._asked[process.holds.remote()] = process, False
        return process

    def examine(self, process: Any) -> None:
        """Have a process that holds an NPU examine it."""
        self._asked[process.examine.remote(self._options)] = process, True

    def answers(self, wait: float) -> list[tuple[Any, Answer]]:
        """Return what processes have answered since, after at most so many seconds."""
        asked = list(self._asked)
        done, _ = self._ray.wait(asked, num_returns=1, timeout=wait)
        if done:
            done, _ = self._ray.wait(asked, num_returns=len(asked), timeout=0)
        return [self._answer(one) for one in done]

    def _answer(self, reference: Any) -> tuple[Any, Answer]:
        process, report = self._asked.pop(reference)
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return process, Lost(_reason(error))
        return process, Report.from_text(answer) if report else Holds("+".join(answer))

    def end(self, process: Any) -> None:
        """End a process, whatever it is doing, without waiting for it."""
        for reference, (other, _) in list(self._asked.items()):
            if other is process:
                del self._asked[reference]
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(process, no_restart=True)


def _name(node: dict[str, Any]) -> str:
    """The name that the node was given, or its host's."""
    name, address = str(node.get("NodeName") or ""), str(node["NodeManagerAddress"])
    return name if name and name != address else str(node["NodeManagerHostname"] or address)


def _reason(error: Exception) -> str:
    """Return the reason in a long message of Ray."""
    kind = type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if "ModuleNotFoundError" in line), "")
    reason = reason or next((line for line in lines if "dead because" in line), "")
    return f"{kind}: {reason or (lines[-1] if lines else 'no reason given')}"[:300]
