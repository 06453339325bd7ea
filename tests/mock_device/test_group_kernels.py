# SPDX-License-Identifier: Apache-2.0
"""Kernels of the ranks of a group, two ranks at one table, against products of whole matrices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.collectives.kernels import Seat, Table
from pyaclnn.reference.kernels import built_in
from pyaclnn.reference.kernels.functions.exchange import Group, GroupError, within

if TYPE_CHECKING:
    from collections.abc import Callable

RANKS = 2
GROUPED = {
    name
    for name in built_in()
    if any(p.kind == "s" and p.name.startswith("group") for p in catalogue()[name].parameters)
}

Arrays = dict[str, Any]


def f(*shape: int, rank: int = 0, seed: int = 1) -> Any:
    """Real numbers with few bits."""
    generator = np.random.default_rng([seed, rank])
    return (generator.integers(-8, 9, shape) / 4).astype(np.float32)


def i(*shape: int, rank: int = 0, seed: int = 2) -> Any:
    return np.random.default_rng([seed, rank]).integers(-7, 8, shape).astype(np.int8)


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def norm(x: Any, gamma: Any) -> Any:
    return x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5) * gamma


def total(each: Callable[[Arrays], Any]) -> Any:
    return lambda every, _: sum(each(a) for a in every)


def normed(each: Callable[[Arrays], Any]) -> Any:
    def both(every: list[Arrays], rank: int) -> Any:
        summed = sum(each(a) for a in every) + every[rank]["residual"]
        return summed, norm(summed, every[rank]["gamma"])

    return both


def plain(rank: int) -> Arrays:
    return {"x1": f(2, 3, rank=rank), "x2": f(3, 4, rank=rank, seed=5), "bias": f(4, rank=rank)}


def narrow(rank: int) -> Arrays:
    scale = np.array([0.5, 0.25, 1, 2], np.float32)
    return {
        "x1": i(2, 3, rank=rank),
        "x2": i(3, 4, rank=rank, seed=5),
        "bias": i(4, rank=rank).astype(np.int32),
        "dequantScale": scale,
        "x2Scale": scale,
        "output": zeros(2, 4),
        "x3": f(2, 4, rank=rank),
        "groupSize": 0,
        "commQuantMode": 0,
        **dict.fromkeys(("pertokenScale", "x1Scale"), np.array([[2], [0.5]], np.float32)),
    }


def weights(rank: int) -> Arrays:
    return {
        "x1": f(2, 4, rank=rank),
        "x2": i(4, 3, rank=rank),
        "x3": f(2, 3, rank=rank),
        "bias": None,
        "antiquantScale": f(2, 3, seed=7),
        "antiquantOffset": f(2, 3, seed=8),
        "antiquantGroupSize": 2,
    }


def residual(rank: int, width: int) -> Arrays:
    return {"residual": f(2, width, rank=rank, seed=9), "gamma": f(width), "epsilon": 1e-5}


def product(a: Arrays) -> Any:
    return a["x1"].astype(np.float64) @ a["x2"] + a["bias"]


def dequantized(a: Arrays) -> Any:
    return product(a) * a["dequantScale"]


def from_weights(a: Arrays) -> Any:
    scale, offset = (np.repeat(a[f"antiquant{name}"], 2, 0) for name in ("Scale", "Offset"))
    return a["x1"] @ ((a["x2"] + offset) * scale)


def gathered(every: list[Arrays], rank: int) -> Any:
    rows = np.concatenate([a["x1"] for a in every])
    return rows @ every[rank]["x2"] + every[rank]["bias"], rows


def gathered_scaled(every: list[Arrays], rank: int) -> Any:
    rows = np.concatenate([a["x1"] * a["x1Scale"] for a in every])
    product = rows @ (every[rank]["x2"] * every[rank]["x2Scale"])
    return product, np.concatenate([a["x1"] for a in every]), None


def scattered(each: Callable[[Arrays], Any]) -> Any:
    return lambda every, rank: np.split(sum(each(a) for a in every), RANKS)[rank]


def scattered_scaled(every: list[Arrays], rank: int) -> Any:
    found = scattered(lambda a: (a["x1"] * a["x1Scale"]) @ (a["x2"] * a["x2Scale"]))
    return found(every, rank), None


def scaled(rank: int) -> Arrays:
    scales = {"x1Scale": np.array([[2], [0.5]], np.float32), "x2Scale": f(1, 4, seed=4)}
    return {**narrow(rank), **scales, "bias": None, "quantScale": None, "amaxOut": None}


def lists(rank: int) -> Arrays:
    x = [f(2, 3, rank=rank), f(1, 2, rank=rank)]
    weight = [f(3, 2, rank=rank, seed=4), f(2, 5, rank=rank, seed=5)]
    return {
        "x": x,
        "weight": weight,
        "bias": None,
        "groupList": None,
        "y": [zeros(2, 2), zeros(1, 5)],
    }


def listed(every: list[Arrays], _: int) -> Any:
    return [sum(a["x"][place] @ a["weight"][place] for a in every) for place in (0, 1)]


SENT = [[1, 2, 0, 1], [2, 0, 1, 1]]
"""Rows of each rank for the experts 0 and 1 of rank 0, and 0 and 1 of rank 1."""
RECEIVED = [[1, 2, 2, 0], [0, 1, 1, 1]]


def routed(rank: int) -> Arrays:
    return {
        "gmmX": f(4, 3, rank=rank),
        "gmmWeight": f(2, 3, 2, rank=rank, seed=4),
        "epWorldSize": 2,
        "sendCounts": SENT[rank],
        "recvCounts": RECEIVED[rank],
        "transGmmWeight": False,
        "mmX": f(2, 3),
        "mmWeight": f(4, 3),
        "transMmWeight": True,
        "permuteOutFlag": True,
        "sendCountsTensor": None,
        "recvCountsTensor": None,
    }


def rows_for(every: list[Arrays], rank: int) -> list[Any]:
    """The rows for each of a rank's experts."""
    parts = [np.split(a["gmmX"], np.cumsum(sent)[:-1]) for a, sent in zip(every, SENT, strict=True)]
    return [np.concatenate([part[2 * rank + expert] for part in parts]) for expert in range(2)]


def routed_truth(every: list[Arrays], rank: int) -> Any:
    rows, a = rows_for(every, rank), every[rank]
    made = np.concatenate([x @ m for x, m in zip(rows, a["gmmWeight"], strict=True)])
    return made, a["mmX"] @ a["mmWeight"].T, np.concatenate(rows)


def returned(rank: int) -> Arrays:
    """The experts' rows: what the ranks send is what they got in `routed`, and the other way."""
    rows = rows_for([routed(0), routed(1)], rank)
    counts = {"sendCounts": RECEIVED[rank], "recvCounts": SENT[rank]}
    return {**routed(rank), **counts, "gmmX": np.concatenate(rows)}


def returned_truth(every: list[Arrays], rank: int) -> Any:
    matrices = np.concatenate([a["gmmWeight"] for a in every])
    owner = np.repeat(range(4), SENT[rank])
    rows = routed(rank)["gmmX"]
    made = np.stack([row @ matrices[expert] for row, expert in zip(rows, owner, strict=True)])
    return made, every[rank]["mmX"] @ every[rank]["mmWeight"].T


EXPERTS = [np.array([[0, 3], [2, 1], [3, 2]]), np.array([[1, 0], [2, 1], [0, 1]])]
TOKENS = [f(3, 4, rank=rank) for rank in range(RANKS)]
ORDERS = [
    [(0, 0), (1, 0), (1, 2), (0, 1), (1, 0), (1, 1), (1, 2)],
    [(0, 1), (0, 2), (1, 1), (0, 0), (0, 2)],
]
"""Rank and token of each row of a rank: expert by expert, of each by ranks, then by tokens."""
ENDS = [[1, 3, 4, 7], [2, 3, 5, 5]]
WEIGHTS = [f(3, 2, rank=rank, seed=3) for rank in range(RANKS)]


def sizes(rank: int) -> Arrays:
    counts = {"epWorldSize": RANKS, "epRankId": rank, "tpWorldSize": 1, "sharedExpertRankNum": 0}
    unused = ("activationScale", "weightScale", "groupList", "performanceInfo")
    absent = dict.fromkeys(("scales", "xActiveMask", "sharedExpertX", *unused))
    return {**counts, **absent, "moeExpertNum": 4, "commQuantMode": 0, "constExpertNum": 0}


def dispatch(rank: int) -> Arrays:
    later = {"expandIdx": "assistInfoForCombineOut"}
    words = "expandX dynamicScales expandIdx expertTokenNums epRecvCounts expandScales"
    whole = [zeros(count, dtype=np.int64) for count in (6, 2, 4)]
    results = [zeros(8, 4), None, *whole, zeros(8)]
    given = {"x": TOKENS[rank], "expertIds": EXPERTS[rank], "expertScales": WEIGHTS[rank]}
    both = zip(words.split(), results, strict=True)
    named = [{name: made, later.get(name, f"{name}Out"): made} for name, made in both]
    modes = {"quantMode": 0, "expertTokenNumsType": 1}
    return {**sizes(rank), **given, **modes, **{k: v for each in named for k, v in each.items()}}


def dispatched(_: list[Arrays], rank: int) -> Any:
    order = ORDERS[rank]
    rows = np.full((8, 4), np.nan)
    rows[: len(order)] = [TOKENS[source][token] for source, token in order]
    places = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 2]][rank]
    shares = np.full(8, np.nan)
    starts = np.searchsorted(ENDS[rank], range(len(order)), "right") // RANKS + 2 * rank
    for row, ((source, token), expert) in enumerate(zip(order, starts, strict=True)):
        (choice,) = np.flatnonzero(EXPERTS[source][token] == expert)
        shares[row] = WEIGHTS[source][token, choice]
    return rows, None, places, np.diff([0, *ENDS[rank][1::2]]), ENDS[rank], None, shares


def combine(rank: int) -> Arrays:
    """Experts that multiply their rows by 1, 2, 3 and 4."""
    rows = dispatched([], rank)[0][: len(ORDERS[rank])]
    factors = np.searchsorted(ENDS[rank], range(len(rows)), "right") // RANKS + 2 * rank + 1
    given = {"expertIds": EXPERTS[rank], "epSendCounts": np.array(ENDS[rank])}
    tokens = {"zeroExpertNum": 0, "copyExpertNum": 0, "oriX": None}
    norms = {"residualX": f(3, 1, 4, rank=rank), "gamma": f(4), "normEps": 1e-5}
    scales = {"expertScales": WEIGHTS[rank], "expandX": np.float32(rows * factors[:, None])}
    return {**sizes(rank), **given, **tokens, **norms, **scales}


def combined(_: list[Arrays], rank: int) -> Any:
    return TOKENS[rank] * (WEIGHTS[rank] * (EXPERTS[rank] + 1)).sum(1, keepdims=True)


def combined_norm(every: list[Arrays], rank: int) -> Any:
    x = combined(every, rank)[:, None] + every[rank]["residualX"]
    y = norm(x, every[rank]["gamma"])
    return y, 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5), x


CASES: list[tuple[str, Callable[[int], Arrays], Any]] = [
    ("MatmulAllReduce", plain, total(product)),
    (
        "MatmulAllReduceV2",
        lambda r: {**plain(r), "x3": f(2, 4)},
        total(lambda a: product(a) + a["x3"]),
    ),
    ("MatmulAllReduceAddRmsNorm", lambda r: {**plain(r), **residual(r, 4)}, normed(product)),
    ("InplaceMatmulAllReduceAddRmsNorm", lambda r: {**plain(r), **residual(r, 4)}, normed(product)),
    ("QuantMatmulAllReduce", narrow, total(lambda a: dequantized(a) + a["x3"])),
    *[
        (
            f"QuantMatmulAllReduce{v}",
            narrow,
            total(lambda a: dequantized(a) * a["x1Scale"] + a["x3"]),
        )
        for v in ("V2", "V3", "V4")
    ],
    *[
        (
            f"{form}QuantMatmulAllReduceAddRmsNorm",
            lambda r: {**narrow(r), **residual(r, 4)},
            normed(dequantized),
        )
        for form in ("", "Inplace")
    ],
    ("WeightQuantMatmulAllReduce", weights, total(lambda a: from_weights(a) + a["x3"])),
    *[
        (
            f"{form}WeightQuantMatmulAllReduceAddRmsNorm",
            lambda r: {**weights(r), **residual(r, 3)},
            normed(from_weights),
        )
        for form in ("", "Inplace")
    ],
    ("GroupedMatMulAllReduce", lists, listed),
    ("AllGatherMatmul", plain, gathered),
    ("AllGatherMatmulV2", scaled, gathered_scaled),
    ("MatmulReduceScatter", plain, scattered(product)),
    ("MatmulReduceScatterV2", scaled, scattered_scaled),
    ("AlltoAllvGroupedMatMul", routed, routed_truth),
    ("GroupedMatMulAlltoAllv", returned, returned_truth),
    (
        "DistributeBarrier",
        lambda r: {"xRef": f(2, rank=r), "worldSize": 2},
        lambda e, r: e[r]["xRef"],
    ),
    *[
        (
            name,
            lambda r: {"xRef": f(2, rank=r), "worldSize": 2, "elasticInfo": None},
            lambda e, r: (e[r]["xRef"], None),
        )
        for name in ("DistributeBarrierV2", "InnerDistributeBarrier")
    ],
    *[(f"MoeDistributeDispatch{v}", dispatch, dispatched) for v in ("", "V2", "V3", "V4")],
    *[(f"MoeDistributeCombine{v}", combine, combined) for v in ("", "V2", "V3", "V4")],
    *[(f"MoeDistributeCombineAddRmsNorm{v}", combine, combined_norm) for v in ("", "V2")],
]


def call(name: str, arguments: Arrays) -> Any:
    """Call a kernel with those of the arguments that it takes."""
    kernel = built_in()[f"aclnn{name}"]
    taken = {p: arguments.get(p, "sum") for p in kernel.parameters}
    return kernel.function(**taken)


def call_all(name: str, every: list[Arrays]) -> list[Any]:
    """Call the kernels of all ranks."""
    table = Table(len(every))

    def one(rank: int) -> Any:
        try:
            with within(Seat(table, len(every), rank)):
                return call(name, every[rank])
        finally:
            table.leave()

    with ThreadPoolExecutor(len(every)) as threads:
        return list(threads.map(one, range(len(every))))


def compare(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)) and not np.isscalar(expected[0]):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
    elif expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(("name", "given", "truth"), CASES, ids=[name for name, *_ in CASES])
def test_ranks_give_what_the_whole_matrices_give(
    name: str, given: Callable[[int], Arrays], truth: Any
) -> None:
    every = [given(rank) for rank in range(RANKS)]
    for rank, found in enumerate(call_all(name, every)):
        compare(found, truth(every, rank))


@pytest.mark.parametrize(("name", "given"), [case[:2] for case in CASES], ids=[c[0] for c in CASES])
def test_a_trial_gives_the_shapes_of_a_rank_alone(
    name: str, given: Callable[[int], Arrays]
) -> None:
    every = [given(rank) for rank in range(RANKS)]
    with within(Group(RANKS)):
        tried = call(name, every[0])
    real = call_all(name, every)[0]
    pairs = zip(tried, real, strict=True) if isinstance(real, (tuple, list)) else [(tried, real)]
    assert all(np.shape(one) == np.shape(other) for one, other in pairs)


def test_every_kernel_of_a_group_has_a_case() -> None:
    assert {f"aclnn{name}" for name, *_ in CASES} == GROUPED


def test_a_rank_that_fails_ends_the_waiting_of_the_others() -> None:
    with pytest.raises(GroupError, match="another rank has ended before this exchange"):
        call_all("MatmulAllReduce", [plain(0), {**plain(1), "x1": f(2, 5)}])


def test_a_kernel_without_a_group_says_so() -> None:
    with pytest.raises(GroupError, match="its group has no communicator"):
        call("MatmulAllReduce", plain(0))


def test_a_world_of_another_size_is_refused() -> None:
    with within(Group(RANKS)), pytest.raises(ValueError, match="world size is 3; its group has 2"):
        call("DistributeBarrier", {"xRef": f(2), "worldSize": 3})


def test_more_tokens_than_a_rank_has_room_for_are_refused() -> None:
    every = [{**dispatch(rank), "expandX": zeros(4, 4)} for rank in range(RANKS)]
    with pytest.raises(ValueError, match="7 tokens come to a tensor of 4 rows"):
        call_all("MoeDistributeDispatch", every)
