# SPDX-License-Identifier: Apache-2.0
"""Consistency of the requests of all ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.mock.collectives.arithmetic import data_type_name, reduction_name
from pyaclnn.mock.collectives.operations import LISTED, PAIRED, REDUCING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyaclnn.mock.collectives.operations import RankWork
    from pyaclnn.mock.collectives.packets import Part

__all__ = ["disagreement"]


def _words(work: RankWork) -> str:
    """Describe the part of a request in which all ranks must agree."""
    part = work.part
    if part.operation == "Operator":
        return work.call().operator
    words = [part.operation]
    if part.operation != "Barrier":
        own = part.operation in LISTED
        words += [] if own else ["of", str(part.count)]
        words.append(data_type_name(part.data_type))
    if part.operation in REDUCING:
        words.append(f"with {reduction_name(part.reduction)}")
    if part.operation in {"Reduce", "Broadcast", "Scatter"}:
        words.append(f"root {part.peer}")
    return " ".join(words)


def disagreement(all_: Sequence[RankWork]) -> str:
    """Describe how the requests of ranks differ; empty if they agree.

    Args:
        all_: All of an operation, in the order of the ranks.
    """
    requests = [_words(each) for each in all_]
    compared = [_pair(each.part) for each in all_] if all_[0].part.operation in PAIRED else requests
    for each, words, request in zip(all_, compared, requests, strict=True):
        if words != compared[0]:
            return f"rank {all_[0].rank} asks for {requests[0]}, rank {each.rank} for {request}"
    check = _LISTS.get(all_[0].part.operation)
    return next(check(all_), "") if check else ""


def _pair(part: Part) -> str:
    return f"{part.count} {data_type_name(part.data_type)}"


def _all_to_all_v(all_: Sequence[RankWork]) -> Iterator[str]:
    ranks = len(all_)
    for sender in all_:
        for receiver in all_:
            sent = sender.listed(0, ranks)[receiver.rank]
            expected = receiver.listed(2, ranks)[sender.rank]
            if sent != expected:
                yield (
                    f"rank {sender.rank} sends {sent} elements to rank {receiver.rank}, which "
                    f"expects {expected}"
                )


def _all_gather_v(all_: Sequence[RankWork]) -> Iterator[str]:
    for receiver in all_:
        for sender in all_:
            expected = receiver.listed(0, len(all_))[sender.rank]
            if expected != sender.part.count:
                yield (
                    f"rank {sender.rank} sends {sender.part.count} elements, rank "
                    f"{receiver.rank} expects {expected} of it"
                )


def _reduce_scatter_v(all_: Sequence[RankWork]) -> Iterator[str]:
    for sender in all_:
        for receiver in all_:
            sent = sender.listed(0, len(all_))[receiver.rank]
            if sent != receiver.part.count:
                yield (
                    f"rank {sender.rank} sends {sent} elements to rank {receiver.rank}, which "
                    f"receives {receiver.part.count}"
                )


_LISTS: Mapping[str, Callable[[Sequence[RankWork]], Iterator[str]]] = {
    "AlltoAllV": _all_to_all_v,
    "AllGatherV": _all_gather_v,
    "ReduceScatterV": _reduce_scatter_v,
}
