# SPDX-License-Identifier: Apache-2.0
"""A light loader of an editable install, for the processes that tests start."""

from __future__ import annotations

import marshal
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, cast

from . import light_loader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

__all__ = ["use_light_loader"]


def use_light_loader(config: pytest.Config) -> None:
    """Let child processes find the modules of an editable install by a table.

    The loader of meson-python is imported by every Python, twice in a virtual environment, and asks
    ninja for work when the package is imported: 50 ms of CPU for each of more than a thousand
    processes. In its place they import `light_loader`, from a folder of pytest's cache that is
    first on their path. Workers of xdist have the loader of the install, which builds.

    Args:
        config: Knows the cache, and whether this process runs tests or starts workers.
    """
    cache = getattr(config, "cache", None)
    finder: Any = next((f for f in sys.meta_path if getattr(f, "_build_path", None)), None)
    if finder is None or cache is None:
        return
    folder = cast("Path", cache.mkdir("loader"))
    if not hasattr(config, "workerinput"):
        table = {"/".join(parts): path for parts, path in _files(finder._rebuild())}
        (folder / light_loader.FILES).write_bytes(marshal.dumps(table))
        shutil.copyfile(light_loader.__file__, folder / f"{type(finder).__module__}.py")
        if config.getoption("numprocesses", None):
            return  # workers take the path over, and read it before this is on it
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), before]))


def _files(node: dict[str, Any], *above: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, below in node.items():
        if isinstance(below, str):
            yield (*above, name), below
        else:
            yield from _files(below, *above, name)
