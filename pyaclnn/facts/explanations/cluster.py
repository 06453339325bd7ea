# SPDX-License-Identifier: Apache-2.0
"""What `pyaclnn fleet doctor` finds about a cluster itself, rather than about one of its NPUs."""

from __future__ import annotations

from typing import Final

from pyaclnn.facts.explanations.entry import Explanation, says

__all__ = ["CLUSTER"]

CLUSTER: Final[dict[str, Explanation]] = {
    "RAY-101": says(
        "Says of each node of a cluster how many of its NPUs got a process and have reported.",
        "other jobs use NPUs of the node",
        "the node does not answer, or has died",
        "the node was started with more NPUs than it has",
        do="run `pyaclnn doctor` on the node itself, or the fleet's again when the NPUs are free.",
    ),
    "RAY-102": says(
        "The process on an NPU of a cluster ended or hung, or its NPU was given out twice.",
        "the driver hangs",
        "the process was killed, for example because memory ran out",
        "the node has failed",
        "ASCEND_RT_VISIBLE_DEVICES of the node names an NPU twice",
        do="run `pyaclnn doctor` on the node itself, and look into Ray's logs there.",
    ),
    "RAY-103": says(
        "No Ray cluster answers at an address.",
        "the address or the port is wrong",
        "the head of the cluster is down, or hangs",
        "a firewall lies between",
        "another version of Ray runs there",
        do="run `ray status --address HOST:PORT` there, and start one with `ray start --head`.",
    ),
}
"""Findings about a cluster by their ids."""
