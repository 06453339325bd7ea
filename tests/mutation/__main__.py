# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.mutation``: try mutations one by one in a copy of the tree, and list survivors.

``nox -s mutation`` makes the copy, installs it and runs this. Frameworks for mutation testing know
Python alone and run one command for the whole tree; here a change of C is compiled, and each room
has its own tests.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .covering import Covering
from .equivalent import EQUIVALENT
from .mutations import Mutation, mutations_of
from .rooms import ROOMS, Room

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
PATIENCE = 4, 30.0
"""Until a mutation counts as hung: times what all tests take without one, and seconds added."""


def sources(room: Room) -> list[str]:
    """Return the paths of a room's sources below the root."""
    found = {path for pattern in room.files for path in ROOT.glob(pattern)}
    left_out = {path for pattern in room.but for path in ROOT.glob(pattern)}
    return sorted(str(path.relative_to(ROOT)) for path in found - left_out)


def chosen(room: Room, seed: int) -> Iterator[Mutation]:
    """Yield all mutations of a room in an order that the seed determines.

    The order follows from the changed lines, not from their numbers: other changes of a file leave
    the choice as it is.
    """
    ranked, seen = [], dict[tuple[str, ...], int]()
    for file in sources(room):
        source = (ROOT / file).read_text(encoding="utf-8")
        for mutation in mutations_of(file, source):
            what = (file, *mutation.lines(source)[1:])
            seen[what] = seen.get(what, 0) + 1
            text = "\0".join((str(seed), *what, str(seen[what])))
            ranked.append((hashlib.sha256(text.encode()).digest(), mutation))
    yield from (mutation for _, mutation in sorted(ranked))


class Tree:
    """The copy of the tree, and how its tests are run."""

    def __init__(self) -> None:
        if (ROOT / ".git").exists():
            raise SystemExit("sources are changed: run 'nox -s mutation', which works on a copy")
        [ninja] = ROOT.glob("build/**/build.ninja")
        self._build = ("ninja", "-C", str(ninja.parent))
        self._stamp = int(time.time())

    def write(self, file: str, source: str) -> None:
        """Write a source with a time that no version of it had: byte code is kept by seconds."""
        self._stamp = max(self._stamp + 1, int(time.time()))
        path = ROOT / file
        path.write_text(source, encoding="utf-8")
        if file.endswith(".py"):
            os.utime(path, (self._stamp, self._stamp))

    def builds(self, file: str, source: str) -> bool:
        """Report if a source compiles."""
        if file.endswith(".py"):
            try:
                compile(source, file, "exec")
            except SyntaxError:
                return False
            return True
        return subprocess.run(self._build, capture_output=True, check=False).returncode == 0

    @staticmethod
    def passes(tests: Sequence[str], seconds: float) -> bool:
        """Report if tests pass in time."""
        command = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", *tests]
        run = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = -1
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = run.wait(seconds)
        finally:
            end(run)
        if code == 5:  # no test was collected
            raise SystemExit(f"no test in {' '.join(tests)}")
        return code == 0


def end(run: subprocess.Popen[bytes]) -> None:
    """End a run of tests, and the processes that tests which failed have left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(run.pid, number)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    run.wait()


def try_room(tree: Tree, room: Room, seed: int, number: int) -> tuple[int, int]:
    """Try mutations of a room and print the survivors.

    Returns:
        How many were tried, and how many of these survived.
    """
    begun = time.monotonic()
    covering = Covering(ROOT, room.tests)
    measured = time.monotonic() - begun
    times = measured + PATIENCE[1], measured * PATIENCE[0] + PATIENCE[1]
    tried = survived = 0
    for mutation in chosen(room, seed):
        source = (ROOT / mutation.file).read_text(encoding="utf-8")
        line, before, after = mutation.lines(source)
        if (mutation.file, before, after) in EQUIVALENT:
            continue
        changed = mutation.apply(source)
        tree.write(mutation.file, changed)
        try:
            if not tree.builds(mutation.file, changed):
                continue
            tried += 1
            runs = zip((covering.of(mutation.file, line), room.tests), times, strict=True)
            if all(tree.passes(tests, seconds) for tests, seconds in runs if tests):
                survived += 1
                print(f"{mutation.file}:{line}: {before}\n    -> {after}", flush=True)
        finally:
            tree.write(mutation.file, source)
        if tried == number:
            break
    print(f"{room.name}: {tried - survived} of {tried} killed", flush=True)
    return tried, survived


def main() -> int:
    """Run the command.

    Returns:
        1 if fewer mutations are killed than the floor asks for, otherwise 0.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("rooms", nargs="*", help="the rooms to mutate; all by default")
    parser.add_argument("--seed", type=int, default=0, help="which mutations are chosen")
    parser.add_argument("--number", type=int, help="mutations of each room, instead of its own")
    parser.add_argument("--floor", type=float, default=0, help="the least percentage of killed")
    options = parser.parse_args()
    tree, tried, survived = Tree(), 0, 0
    for room in ROOMS:
        if room.name in options.rooms or not options.rooms:
            done = try_room(tree, room, options.seed, options.number or room.number)
            tried, survived = tried + done[0], survived + done[1]
    share = 100 * (tried - survived) / max(1, tried)
    print(f"{share:.1f} % of {tried} mutations killed, {survived} survived")
    return int(share < options.floor)


if __name__ == "__main__":
    sys.exit(main())
