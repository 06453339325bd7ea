# SPDX-License-Identifier: Apache-2.0
"""Operators of a group: the kernels of all ranks, a thread each, in the memory of their devices."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import text_of
from pyaclnn.facts.releases import simulated
from pyaclnn.mock.operators.finding import find_operator
from pyaclnn.mock.operators.outputs import spoil_outputs
from pyaclnn.reference.kernels.functions.exchange import Group, GroupError, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.mock.collectives.operations import RankWork

__all__ = ["Seat", "Table", "run_kernels"]


class Table:
    """Where the ranks of one operator meet: what each of them gives, exchange by exchange."""

    def __init__(self, ranks: int) -> None:
        self._ranks, self._left = ranks, False
        self._rounds: list[dict[int, Any]] = []
        self._changed = threading.Condition()

    def exchange(self, rank: int, number: int, value: Any) -> list[Any]:
        """Contribute a value to an exchange, and wait for those of the other ranks."""
        with self._changed:
            if number == len(self._rounds):
                self._rounds.append({})
            given = self._rounds[number]
            given[rank] = value
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(given) == self._ranks or self._left)
            if len(given) < self._ranks:
                raise GroupError("another rank has ended before this exchange")
            return [given[each] for each in range(self._ranks)]

    def leave(self) -> None:
        """End the waiting of the others, unless their exchange is complete."""
        with self._changed:
            self._left = True
            self._changed.notify_all()


class Seat(Group):
    """A rank's view of its group, at a table."""

    def __init__(self, table: Table, ranks: int, rank: int) -> None:
        super().__init__(ranks, rank, in_trial=False)
        self._table, self._exchanges = table, 0

    def everyone(self, value: Any) -> list[Any]:
        """Return what every rank gives, once all have given it."""
        self._exchanges += 1
        return self._table.exchange(self.rank, self._exchanges - 1, value)


def run_kernels(all_: Sequence[RankWork]) -> None:
    """Run the kernels of all ranks.

    Raises:
        ValueError: One of them fails; the text names its rank.
    """
    table = Table(len(all_))
    with ThreadPoolExecutor(len(all_)) as threads:
        faults = list(threads.map(lambda work: _run(work, table, len(all_)), all_))
    found = [fault for fault in faults if fault and not isinstance(fault[1], GroupError)]
    for rank, error in found or filter(None, faults):
        raise ValueError(f"rank {rank}: {text_of(error)}") from error


def _run(work: RankWork, table: Table, ranks: int) -> tuple[int, Exception] | None:
    """Run the kernel of a rank; return its failure."""
    try:
        call = work.call()
        operator = find_operator(call, simulated().name)
        if operator is None:
            return work.rank, ValueError(f"the rendezvous process has no {call.operator}")
        with within(Seat(table, ranks, work.rank)):
            operator.kernels(operator.bind(call), work.memory).run()
        if work.wrong:
            spoil_outputs(work.memory, call, operator.written_mask)
    except Exception as error:  # noqa: BLE001  # kernels may be anybody's
        return work.rank, error
    finally:
        table.leave()
    return None
