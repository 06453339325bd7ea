# SPDX-License-Identifier: Apache-2.0
"""The survey on Ray: a cluster of several nodes on this machine, with simulated NPUs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import fleet, reference
from pyaclnn.accuracy import judge
from pyaclnn.doctor.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.doctor.report.fleet import Fleet
    from pyaclnn.doctor.report.record import CheckResult
    from pyaclnn.fleet.npu import Ended, Node

pytestmark = [
    pytest.mark.fleet,
    # Ray's own: files and sockets that it leaves to the collector.
    pytest.mark.filterwarnings("ignore"),
]
QUICK = ("DEV-104",)
"""A device is opened, and no more."""
SLOW = ("DEV-104", "NUM-rms_norm")
PATIENCE = 90.0


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_of_the_suite() -> None:
    """What Ray leaves in the process that was connected is Ray's."""


@pytest.fixture(scope="module")
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


def results(found: Fleet, node: str) -> dict[str, CheckResult]:
    report = next(r for n, r in zip(found.names, found.reports, strict=True) if n.startswith(node))
    return {result.id: result for result in report.results}


def opened(found: Fleet) -> dict[str, Status]:
    """How the opening of each NPU ended, by node and NPU."""
    return {
        f"{name.split()[0]}{result.id.partition('@')[2]}": result.status
        for name, report in zip(found.names, found.reports, strict=True)
        for result in report.results
        if result.id.startswith("DEV-104@")
    }


ALL = {"head0", "head1", "one0", "two0", "two1"}


def when_examined(act: Callable[[Node], None]) -> Callable[..., None]:
    """Something to do once, when the first NPU of a node has its process."""
    done: list[str] = []

    def tell(node: Node, _: int, npu: str | None, ended: Ended | None) -> None:
        if npu is not None and ended is None and not done:
            done.append(npu)
            act(node)

    return tell


def left() -> list[int]:
    """The processes that still hold an NPU when those that were ended have had time to."""
    end = time.monotonic() + PATIENCE
    while probes() and time.monotonic() < end:
        time.sleep(0.2)
    return probes()


def probes() -> list[int]:
    """The processes that hold an NPU."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"ray::Probe" in read(path)
    ]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def test_every_npu_is_examined_once_on_its_node(cluster: Any) -> None:
    found = fleet.examine(only=QUICK, patience=PATIENCE)
    assert opened(found) == dict.fromkeys(ALL, Status.PASS)
    assert found.exit_status == 0
    assert found.simulated
    assert results(found, "two")["RAY-101"].summary == "2 of 2 NPUs have reported"
    assert not left()
    assert cluster is not None


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("number", "deadline", "status", "words"),
    [
        (signal.SIGKILL, 120.0, Status.CRASH, "ActorDiedError"),
        (signal.SIGSTOP, 20.0, Status.TIMEOUT, "no report within 20 s"),
    ],
)
def test_a_process_that_is_killed_or_stands_still_costs_its_own_npu(
    number: signal.Signals, deadline: float, status: Status, words: str
) -> None:
    hit = when_examined(lambda _: os.kill(probes()[0], number))
    found = fleet.examine(only=SLOW, deadline=deadline, patience=PATIENCE, tell=hit)
    lost = [r for report in found.reports for r in report.results if r.id.startswith("RAY-102@")]
    assert [one.status for one in lost] == [status]
    assert words in lost[0].summary
    assert list(opened(found).values()) == [Status.PASS] * 4
    assert found.exit_status == 1
    assert not left()


def test_a_node_that_dies_is_told_and_the_others_go_on(cluster: Any) -> None:
    with another(cluster, "gone", 2) as node:

        def die(place: Node) -> None:
            if place.name == "gone":
                cluster.remove_node(node, allow_graceful=False)

        def tell(place: Node, _: int, npu: str | None, ended: Ended | None) -> None:
            if place.name == "gone" and npu is not None and ended is None and not dead:
                dead.append(npu)
                die(place)

        dead: list[str] = []
        found = fleet.examine(only=SLOW, patience=30, tell=tell)
    assert dead
    assert opened(found).items() >= dict.fromkeys(ALL, Status.PASS).items()
    assert any(result.status.broken for result in results(found, "gone").values())
    assert found.exit_status == 1


def test_a_driver_that_hangs_is_named_and_wrong_numbers_are_those_of_their_npu(
    cluster: Any,
) -> None:
    hang = another(cluster, "hung", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNorm=hang")
    wrong = another(cluster, "wrong", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNorm=wrong")
    with hang, wrong:
        found = fleet.examine(only=SLOW, deadline=40, patience=PATIENCE)
    bad = {
        (name.split()[0], result.id)
        for name, report in zip(found.names, found.reports, strict=True)
        for result in report.results
        if result.status.broken
    }
    assert bad == {("hung", "NUM-rms_norm@0"), ("wrong", "NUM-rms_norm@0")}
    hung, wrong_one = (results(found, name)["NUM-rms_norm@0"] for name in ("hung", "wrong"))
    assert (hung.status, wrong_one.status) == (Status.TIMEOUT, Status.FAIL)
    assert "aclrtSynchronizeStreamWithTimeout" in hung.summary
    assert opened(found).items() >= dict.fromkeys(ALL, Status.PASS).items()


@pytest.mark.usefixtures("cluster")
def test_an_npu_that_others_use_could_not_be_examined() -> None:
    import ray  # noqa: PLC0415  # where it is

    class Job:
        def work(self) -> bool:
            return True

    job = ray.remote(num_cpus=0, resources={"NPU": 1}, max_restarts=0)(Job).remote()
    assert ray.get(job.work.remote(), timeout=PATIENCE)
    try:
        found = fleet.examine(only=QUICK, patience=15)
    finally:
        ray.kill(job)
    assert len(opened(found)) == 4
    (untold,) = [r for report in found.reports for r in report.results if r.status is Status.ERROR]
    assert "others use it" in untold.summary
    assert found.exit_status == 3


def test_an_id_that_a_node_has_twice_is_a_finding(cluster: Any) -> None:
    with another(cluster, "twin", 2, ASCEND_RT_VISIBLE_DEVICES="3,3"):
        found = fleet.examine(only=QUICK, patience=PATIENCE)
    twice = results(found, "twin")["RAY-102@3"]
    assert twice.status is Status.FAIL
    assert "two processes were given NPU 3" in twice.summary


# ---- sharded gradients --------------------------------------------------------------------------


def batch() -> tuple[Any, ...]:
    chance = np.random.default_rng(7)
    x, dy = chance.normal(size=(2, 900, 48)).astype(np.float32)
    weight = chance.normal(1, 0.1, 48).astype(np.float32)
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return dy, x, mean, (1 / np.sqrt(variance + 1e-5)).astype(np.float32), weight


CUTS = [300, 350, 700]


@pytest.mark.usefixtures("cluster")
def test_gradients_of_shards_are_those_of_one_device() -> None:
    import ray  # noqa: PLC0415  # where it is

    dy, x, mean, rstd, weight = batch()
    slopes, rows, means, rstds = (np.split(array, CUTS) for array in (dy, x, mean, rstd))
    found = fleet.layer_norm_backward(
        [ray.put(part) for part in slopes], rows, 48, means, rstds, weight, np.zeros_like(weight)
    )
    golden = reference.layer_norm_backward(dy, x, (48,), mean, rstd, weight, np.zeros_like(weight))
    given = (np.concatenate(ray.get(found.grad_input)), found.grad_weight, found.grad_bias)
    for actual, expected in zip(given, golden, strict=True):
        assert judge(np.asarray(actual), np.asarray(expected)).passed
    rms = fleet.rms_norm_grad(slopes, rows, rstds, weight)
    for actual, expected in zip(
        (np.concatenate(ray.get(rms.grad_input)), rms.grad_weight),
        reference.rms_norm_grad(dy, x, rstd, weight),
        strict=True,
    ):
        assert judge(np.asarray(actual), np.asarray(expected)).passed


def test_a_shard_that_a_device_loses_is_computed_again_elsewhere_or_named(cluster: Any) -> None:
    dy, x, mean, rstd, weight = batch()
    with another(cluster, "lossy", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNormGrad=lost"):
        import ray  # noqa: PLC0415  # where it is

        (lossy,) = [n["NodeID"] for n in ray.nodes() if n["NodeName"] == "lossy" and n["Alive"]]
        nodes = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"])
        # As many shards as nodes: one of them is tried on the node that loses it.
        slopes, rows, rstds = (np.array_split(array, len(nodes)) for array in (dy, x, rstd))
        found = fleet.rms_norm_grad(slopes, rows, rstds, weight)
        with pytest.raises(fleet.ShardLostError, match=f"shard {nodes.index(lossy)} of 4"):
            fleet.rms_norm_grad(slopes, rows, rstds, weight, attempts=1)
    golden = reference.rms_norm_grad(dy, x, rstd, weight)[1]
    assert found.grad_weight is not None
    assert judge(found.grad_weight, golden).passed
    assert mean.shape == (900, 1)


def test_batch_norm_of_shards_is_that_of_the_whole_batch_and_outlives_a_device(
    cluster: Any,
) -> None:
    chance = np.random.default_rng(8)
    batch = chance.normal(3, 2, (30, 5, 4, 4)).astype(np.float32)
    shards = np.split(batch, [15, 20, 27])
    weight, bias = chance.normal(1, 0.1, (2, 5)).astype(np.float32)
    mean, variance = np.zeros(5, np.float32), np.ones(5, np.float32)
    golden = reference.batch_norm(batch, mean, variance, weight, bias, training=True)
    faults = "aclnnBatchNormStats=lost; aclnnBatchNormElemt=lost"
    with another(cluster, "lossy", 1, PYACLNN_MOCK_FAULTS=faults):
        import ray  # noqa: PLC0415  # where it is

        (lossy,) = [n["NodeID"] for n in ray.nodes() if n["NodeName"] == "lossy" and n["Alive"]]
        # What lies nowhere is tried on the node of its number.
        hit = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"]).index(lossy)
        given = [part if n == hit else ray.put(part) for n, part in enumerate(shards)]
        found = fleet.sync_batch_norm(given, mean, variance, weight, bias)
        with pytest.raises(fleet.ShardLostError, match=f"shard {hit} of 4 of statistics"):
            fleet.sync_batch_norm(given, attempts=1)
        output = np.concatenate(ray.get(found.output))
    actual = (output, found.save_mean, found.save_invstd, mean, variance)
    for one, expected in zip(actual, golden, strict=True):
        assert judge(np.asarray(one), np.asarray(expected)).passed


# ---- no cluster to work on: as processes, which connect themselves ------------------------------


def command(*arguments: str, **variables: str) -> tuple[int, str, float]:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pyaclnn", "fleet", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
        env={**os.environ, **variables},
    )
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begun


def test_a_cluster_without_npus_is_said_to_have_none() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    code = "import ray; ray.init(address='local', num_cpus=1, include_dashboard=False)"
    code += "; from pyaclnn.cli import main; raise SystemExit(main(['fleet', 'doctor']))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=150
    )
    assert done.returncode == 4, done.stderr
    assert "the cluster has no NPU" in done.stderr


@pytest.mark.parametrize("listening", [False, True])
def test_an_address_that_does_not_answer_is_given_up(listening: bool) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listening:
            taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        status, said, seconds = command("--address", address)
    assert status == 3, said
    assert f"RAY-103 no Ray cluster answers at {address}" in said
    assert not listening or "takes connections, but no Ray has answered" in said
    assert "Traceback" not in said
    assert seconds < 90


def test_the_cluster_at_an_address_is_examined(cluster: Any) -> None:
    status, said, _ = command("--address", cluster.address, "--only", "DEV-104")
    assert status == 0, said
    assert "5 NPUs on 3 nodes, each in a process of its own" in said


def test_a_newcomer_understands_the_screen() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    status, said, _ = command("--simulate", "3", "--only", "DEV-104")
    assert status == 0, said
    assert "3 NPUs on 1 node, each in a process of its own" in said
    assert "SIMULATED NPU - not a chip" in said
    for npu in range(3):
        assert f"NPU {npu} (" in said
    assert "Traceback" not in said
