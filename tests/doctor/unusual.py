# SPDX-License-Identifier: Apache-2.0
"""Machines that are unusual and healthy: nothing on them is a fault, and nothing is warned of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .installations import KERNELS, Break, Fabricated, install, source
from .machine_breakages import in_container
from .parts import patched, provider, shim

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["UNUSUAL", "Unusual"]


@dataclass(frozen=True)
class Unusual:
    """One healthy machine.

    Attributes:
        name: What is unusual.
        made: Makes it so.
        layout: The layout of its CANN.
        devices: How many devices it has.
        chip: Its chip.
        runs: False of one whose libraries the loader of this system, which has another
            configuration, does not find.
    """

    name: str
    made: Break
    layout: str = "8.1"
    devices: int = 1
    chip: str = "Ascend910B3"
    runs: bool = True


def _unchanged(_: Fabricated) -> None:
    pass


def _moved(made: Fabricated, below: str) -> None:
    """Move CANN to another folder of the machine, and source it there."""
    target = made.root / below / made.cann.name
    target.parent.mkdir(parents=True)
    for path in list(made.cann.parent.iterdir()):
        if path == made.cann or path.name.startswith(("8.", "cann-", "set_env")):
            path.rename(target.parent / path.name)
    made.cann = target
    made.unset("LD_LIBRARY_PATH")
    source(made, target)


def _in_container(made: Fabricated) -> None:
    in_container(made)
    made.write("/.dockerenv")
    (made.root / "proc/modules").unlink()


def _rootless(made: Fabricated) -> None:
    _in_container(made)
    made.gids = {65534}
    for node in (made.root / "dev").iterdir():
        node.chmod(0o666)  # the runtime shows them as those of nobody


def _other_chip(made: Fabricated) -> None:
    kernels = made.opp / KERNELS
    for folder in (kernels, kernels / "config"):
        (folder / "ascend910b").rename(folder / "ascend310p")
    made.environment["PYACLNN_MOCK_SOC"] = "Ascend310P3"


def _virtual(made: Fabricated) -> None:
    (made.root / "dev/davinci0").rename(made.root / "dev/vdavinci100")


def _two_installations(made: Fabricated) -> None:
    install(made, made.cann.parent / "other", "8.0.0")


def _configured_loader(made: Fabricated) -> None:
    made.unset("LD_LIBRARY_PATH")
    made.write("/etc/ld.so.conf", "include ld.so.conf.d/*.conf\n")
    folders = f"{made.lib64}\n{made.driver / 'lib64/driver'}\n"
    made.write("/etc/ld.so.conf.d/cann.conf", folders)


def _read_only(made: Fabricated) -> None:
    scratch = _scratch(made)
    for path in made.root.rglob("*"):
        if path.is_dir() and not path.is_symlink() and path != scratch:
            path.chmod(0o555)
    made.unset("HOME")
    for name in ("ASCEND_PROCESS_LOG_PATH", "ASCEND_CACHE_PATH"):
        made.environment[name] = str(scratch)


def _scratch(made: Fabricated) -> Path:
    scratch = made.root / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    made.environment["TMPDIR"] = str(scratch)
    return scratch


def _of_conda(made: Fabricated) -> None:
    _moved(made, "opt/python/Ascend")


def _newer_libraries(made: Fabricated) -> None:
    """Let CANN want a newer library than the system has, as a Python of conda brings it."""
    provider(made.root / "usr/lib/libstdc++.so.6", "GLIBCXX_3.4.29")
    new = provider(made.root / "opt/python/lib/libstdc++.so.6", "GLIBCXX_3.4.29", "GLIBCXX_3.4.30")
    made.executable = made.root / "opt/python/bin/python"
    made.executable.parent.mkdir()
    search = "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib"
    shim(made.executable, "int main(void) { return 0; }", search, kind="-pie")
    inner, real = made.lib64 / "libvendr.so", made.lib64 / "libreal.so"
    patched(inner, real, (b"libvendr.so", b"libreal.so"))
    needs = ("-Wl,--no-as-needed", str(real), str(new))
    shim(inner, "int f(void); int g(void) { return f(); }", "-Wl,-soname,libvendr.so", *needs)


UNUSUAL: Final = (
    Unusual("an ordinary user", _unchanged),
    Unusual("a moved installation", lambda made: _moved(made, "opt/npu/ascend-toolkit")),
    Unusual("an installation in the home", lambda made: _moved(made, "home/user/Ascend/toolkit")),
    Unusual("a container of Docker's runtime", _in_container),
    Unusual("an inference chip", _other_chip, chip="Ascend310P3"),
    Unusual("sixteen dies", _unchanged, devices=16),
    Unusual("the layout of 9.1", _unchanged, layout="9.1", devices=2),
    Unusual("a virtual NPU", _virtual),
    Unusual("a rootless container", _rootless),
    Unusual("two installations", _two_installations),
    Unusual("no home", lambda made: made.unset("HOME")),
    Unusual("libraries in the loader's configuration", _configured_loader, runs=False),
    Unusual("a root that is read only", _read_only),
    Unusual("no usual folder of temporary files", _scratch),
    Unusual("an environment of conda", _of_conda, layout="9.1"),
    Unusual("a Python with newer libraries", _newer_libraries, runs=False),
)
