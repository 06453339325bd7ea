# SPDX-License-Identifier: Apache-2.0
"""Machines with a CANN, made of a folder: whole ones of each layout, to be broken in one place.

The layouts are those of CANN 8.1 (``ascend-toolkit/latest``, one ``libopapi.so``), 8.5 (``cann``,
versions in ``share/info``) and 9.1 (``libacl_rt.so``, ``libopapi_nn.so``).
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.health.checks.machine import Machine, NodeKind

from .parts import place

if TYPE_CHECKING:
    from .parts import Parts

LAYOUTS = ("8.1", "8.5", "9.1")
ARCH = f"{platform.machine()}-linux"
VERSIONS = {"8.1": "8.1.RC1", "8.5": "8.5.0", "9.1": "9.1.0"}
DRIVERS = {"8.1": "25.0.rc1", "8.5": "25.5.0", "9.1": "25.5.0"}
CHIPS = ("Ascend910B1", "Ascend910B3", "Ascend910B4", "Ascend310P3")
NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")
MAJOR = 236
KERNELS = "built-in/op_impl/ai_core/tbe/kernel"

_SPEAKING = ("PYACLNN_", "ASCEND_", "LD_LIBRARY_PATH", "ACLNN_", "DISABLE_L2_CACHE", "KIT_")
_PYTHON = {
    "numpy": "1.26.4",
    "decorator": "5.1.1",
    "sympy": "1.12",
    "scipy": "1.11.4",
    "attrs": "23.2.0",
    "psutil": "5.9.8",
    "cloudpickle": "3.0.0",
}


@dataclass
class Fabricated:
    """A machine made of a folder.

    Attributes:
        root: What stands for ``/``.
        layout: Which layout its CANN has.
        cann: The root of its CANN, as a user names it.
        parts: Where its libraries come from.
        environment: Its environment variables, as if set_env.sh had been sourced.
        gids: The groups of who asks.
        python: The versions of its Python packages.
        executable: Its Python.
    """

    root: Path
    layout: str
    cann: Path
    parts: Parts
    environment: dict[str, str] = field(default_factory=dict)
    gids: set[int] = field(default_factory=lambda: {os.getgid()})
    python: dict[str, str] = field(default_factory=lambda: dict(_PYTHON))
    executable: Path = field(default_factory=lambda: Path(sys.executable))

    @property
    def lib64(self) -> Path:
        """The folder of CANN's libraries."""
        return self.cann / "lib64"

    @property
    def driver(self) -> Path:
        """The driver's folder."""
        return self.root / "usr/local/Ascend/driver"

    @property
    def opp(self) -> Path:
        """The folder of the operator packages."""
        return self.cann / "opp"

    @property
    def runtime(self) -> Path:
        """The runtime library."""
        return self.lib64 / ("libacl_rt.so" if self.layout == "9.1" else "libascendcl.so")

    @property
    def operators(self) -> Path:
        """The library of the operators."""
        return self.lib64 / ("libopapi_nn.so" if self.layout == "9.1" else "libopapi.so")

    def machine(self) -> Machine:
        """The machine, to be examined by a user who is neither root nor owner of anything."""
        return Machine(
            root=self.root,
            environment=self.environment,
            home=self.root / "home/user",
            prefix=self.root / "opt/python",
            executable=self.executable,
            uid=os.getuid() + 1000,
            gids=frozenset(self.gids),
            package_version=self.python.get,
            kind=self.kind,
            assumed=True,
        )

    def kind(self, path: Path) -> NodeKind:
        """The kind of a file; an empty one in ``/dev`` stands for a device of the driver."""
        if path.is_file() and path.parent == self.root / "dev" and not path.read_bytes():
            number = path.name.removeprefix("davinci")
            return NodeKind("character device", MAJOR, int(number) if number.isdigit() else 0)
        return NodeKind("folder" if path.is_dir() else "ordinary file")

    def write(self, path: str, content: str = "") -> Path:
        """Write a file of the machine, e.g. ``/etc/group``."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
        return target

    def edit(self, path: Path, before: str, after: str) -> None:
        """Change a file in one place."""
        content = path.read_text(encoding="utf-8")
        assert before in content, f"{path} has no {before!r}"
        path.unlink()  # a header is that of other machines as well
        path.write_text(content.replace(before, after), encoding="utf-8")

    def unset(self, *names: str) -> None:
        """Take variables out of the environment."""
        for name in names:
            self.environment.pop(name, None)


def healthy(root: Path, layout: str, parts: Parts, *, devices: int = 1) -> Fabricated:
    """Make a whole machine with one installation of CANN.

    Args:
        root: An empty folder.
        layout: One of `LAYOUTS`.
        parts: The libraries.
        devices: How many NPUs it has.
    """
    ascend = root / "usr/local/Ascend"
    cann = ascend / ("ascend-toolkit/latest" if layout == "8.1" else "cann")
    made = Fabricated(root, layout, cann, parts)
    install(made, cann, VERSIONS[layout])
    _machine(made, devices)
    _driver(made)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_SPEAKING)}
    made.environment.update(kept)
    made.environment.update(
        PYACLNN_MOCK_PYTHON=sys.executable, PYACLNN_MOCK_DEVICES=str(devices), TMPDIR=str(root)
    )
    source(made, cann)
    return made


def source(made: Fabricated, cann: Path) -> None:
    """Do what set_env.sh does: name an installation and put its libraries in front."""
    before = made.environment.get("LD_LIBRARY_PATH")
    driver = [str(made.driver / "lib64" / part) for part in ("driver", "common")]
    path = [str(cann / "lib64"), *([before] if before else driver)]
    made.environment.update(
        ASCEND_HOME_PATH=str(cann),
        ASCEND_TOOLKIT_HOME=str(cann),
        ASCEND_OPP_PATH=str(cann / "opp"),
        LD_LIBRARY_PATH=":".join(path),
    )


def install(made: Fabricated, link: Path, version: str) -> Path:
    """Install a CANN of the machine's layout; returns its real folder."""
    real = link.parent / (version if made.layout == "8.1" else f"cann-{version}")
    place(made.parts.new if made.layout == "9.1" else made.parts.old, real / "lib64")
    place(made.parts.stub, real / ARCH / "devlib")
    link.symlink_to(real.name)
    shutil.copytree(made.parts.headers, real / "include", copy_function=os.link)
    for chip in CHIPS:
        write(real / ARCH / f"data/platform_config/{chip}.ini", f"[version]\nSoC_version={chip}\n")
    for name in ("layer_norm_v4", "rms_norm"):
        kernel = real / "opp" / KERNELS / "ascend910b" / name / "kernel.o"
        kernel.parent.mkdir(parents=True)
        shutil.copy(made.parts.driver / "libascend_hal.so", kernel)
    write(real / "opp" / KERNELS / "config/ascend910b/binary_info_config.json", "{}")
    script = real.parent if made.layout == "8.1" else real
    write(script / "set_env.sh", f"export ASCEND_HOME_PATH={link}\n")
    (_old_versions if made.layout == "8.1" else _new_versions)(real, version)
    return real


def _old_versions(real: Path, version: str) -> None:
    inner = "7.7.0.1.238"
    packages = ("runtime", "compiler", "hccl", "opp", "toolkit", "opp_kernel")
    lines = [f"{name}_running_version=[{inner}:{version}]" for name in packages]
    write(real / "version.cfg", "\n".join(["# version: 1.0", *lines]) + "\n")
    write(
        real / "runtime/version.info",
        f'Version={inner}\nversion_dir={version}\nrequired_driver_ascendhal_version=">=4.0.0"\n',
    )
    write(
        real / ARCH / "ascend_toolkit_install.info",
        f"package_name=Ascend-cann-toolkit\nversion={version}\narch={platform.machine()}\n",
    )


def _new_versions(real: Path, version: str) -> None:
    for name in ("runtime", "opbase", "ops_nn", "ops_math", "hccl"):
        write(real / f"share/info/{name}/version.info", f"Version={version}\n")


def _machine(made: Fabricated, devices: int) -> None:
    names = [*NODES, *(f"davinci{number}" for number in range(devices))]
    for name in names:
        made.write(f"/dev/{name}").chmod(0o660)
    drivers = f"  1 mem\n{MAJOR} devdrv-cdev\n"
    made.write("/proc/devices", f"Character devices:\n{drivers}\nBlock devices:\n")
    made.write("/etc/group", f"HwHiAiUser:x:{os.getgid()}:\nroot:x:0:\n")
    made.write("/etc/passwd", f"HwHiAiUser:x:{os.getuid()}:{os.getgid()}::/:/bin/sh\n")
    made.write("/etc/os-release", 'PRETTY_NAME="A machine of the kit"\n')
    made.write("/proc/1/cgroup", "0::/init.scope\n")
    made.write("/proc/modules", "drv_pcie_host 200704 1 - Live 0x0\next4 1 0 - Live 0x0\n")
    (made.root / "home/user").mkdir(parents=True)
    (made.root / "home/user").chmod(0o777)  # whoever the user is, it is his


def _driver(made: Fabricated) -> None:
    place(made.parts.driver, made.driver / "lib64/driver")
    (made.driver / "lib64/common").mkdir()
    version = DRIVERS[made.layout]
    write(made.driver / "version.info", f"Version={version}\nascendhal_version=7.35.23\n")
    write(made.driver.parent / "firmware/version.info", "Version=7.7.0.1.231\n")
    made.write(
        "/etc/ascend_install.info",
        "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Path_Param=/usr/local/Ascend\n",
    )


def write(path: Path, content: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


Break = Callable[[Fabricated], object]
