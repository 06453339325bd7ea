# SPDX-License-Identifier: Apache-2.0
"""A bundle of one machine has what support asks for, without secrets."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.command.support import collect
from pyaclnn.health.report.bundle import as_bundle
from tests.doctor import report_samples as samples
from tests.fork_server import run_program

if TYPE_CHECKING:
    from pathlib import Path

PLACES = {
    "root/ascend/log/debug/plog/plog-812_1.log": "[ERROR] RUNTIME(812): drvRetCode=7",
    "root/ascend/log/debug/device-0/device-812_1.log": "[ERROR] TS(812): task timeout",
    "var/log/npu/slog/device-0/device-os_1.log": "[ERROR] KERNEL: reset",
    "var/log/ascend_seclog/ascend_install.log": "[ERROR] dkms failed",
    "usr/local/Ascend/driver/version.info": "Version=24.1.rc2",
    "proc/modules": "drv_pcie_host 1 2 - Live\next4 3 4 - Live\n",
    "sys/bus/pci/drivers/devdrv_device_driver/0000:c1:00.0/current_link_speed": "16.0 GT/s PCIe",
    "sys/bus/pci/drivers/devdrv_device_driver/0000:c1:00.0/current_link_width": "8",
}
TOOLS = {
    "npu-smi": 'echo "npu-smi $*: Critical"',
    "lspci": "echo 'LnkSta: Speed 8GT/s (downgraded), Width x4'",
    "dmesg": "echo 'devdrv: device 3 heartbeat lost'; echo 'usb 1-1: new device'",
}
SECRETS = {
    "a password": ("db password=hunter2secret", "hunter2secret"),
    "a token": ("login with ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abc"),
    "a header": ("Authorization: Bearer abcdef0123456789", "abcdef0123"),
    "an address": ("peer 10.1.2.3 is gone", "10.1.2.3"),
    "a key": ("-----BEGIN PRIVATE KEY-----\nMIIEowIB\n-----END PRIVATE KEY-----", "MIIEow"),
    "a mail address": ("ask alice@corp.example.com", "alice@"),
    "a private folder": ("reading /home/alice/merger-plans/model.pt", "merger-plans"),
    "the machine's name": ("node-17 rebooted", "node-17"),
    "a site": ("https://alice:pw@intern.example.com/x", "intern.example"),
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for place, text in PLACES.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in TOOLS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    opened = tmp_path / "proc/77/fd"
    opened.mkdir(parents=True)
    (opened / "5").symlink_to("/dev/davinci3")
    (tmp_path / "proc/77/comm").write_text("python3\n", encoding="utf-8")
    return Machine(root=tmp_path, home=tmp_path / "root", environment={"PATH": str(programs)})


EXPECTED = [
    ("plog.txt", "drvRetCode=7"),
    ("device-log.txt", "task timeout"),
    ("device-log.txt", "KERNEL: reset"),
    ("installer-log.txt", "dkms failed"),
    ("versions.txt", "==> /usr/local/Ascend/driver/version.info\nVersion=24.1.rc2"),
    ("modules.txt", "drv_pcie_host"),
    ("pcie.txt", "0000:c1:00.0/current_link_width\n8"),
    ("pcie.txt", "16.0 GT/s"),
    ("npu-smi.txt", "npu-smi info: Critical"),
    ("npu-smi-map.txt", "npu-smi info -m: Critical"),
    ("lspci.txt", "Width x4"),
    ("dmesg.txt", "device 3 heartbeat lost"),
    ("holders.txt", "77 python3: /dev/davinci3"),
]


def test_everything_that_support_asks_for_is_collected(machine: Machine) -> None:
    texts = collect(machine)
    assert [(name, part) for name, part in EXPECTED if part not in texts.get(name, "")] == []
    assert "ext4" not in texts["modules.txt"]
    assert "usb" not in texts["dmesg.txt"]


def test_a_machine_without_any_of_it_gives_nothing(tmp_path: Path) -> None:
    bare = Machine(root=tmp_path, home=tmp_path, environment={"PATH": ""})
    assert collect(bare) == {}


def test_of_a_long_log_the_end_is_kept_and_a_tool_that_fails_is_named(machine: Machine) -> None:
    log = machine.root / "root/ascend/log/debug/plog/plog-812_1.log"
    log.write_text("begin\n" + "x" * (1 << 20) + "\nthe end\n", encoding="utf-8")
    (machine.root / "programs/lspci").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    texts = collect(machine)
    assert "the end" in texts["plog.txt"]
    assert len(texts["plog.txt"]) < 1 << 19
    assert "lspci ended with status 3" in texts["lspci.txt"]


@pytest.mark.parametrize("kind", SECRETS)
def test_no_secret_of_a_log_is_in_the_bundle(kind: str, machine: Machine) -> None:
    line, secret = SECRETS[kind]
    for place in PLACES:
        with (machine.root / place).open("a", encoding="utf-8") as log:
            log.write(f"\n[ERROR] drv_x {line}\n")
    packed = as_bundle([samples.BROKEN], collect(machine))
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        files = {
            entry.name: file.read().decode()
            for entry in archive
            if (file := archive.extractfile(entry)) is not None
        }
    assert secret in "".join(collect(machine).values())  # else the test would be empty
    assert [name for name, text in files.items() if secret in text] == []
    assert "drvRetCode=7" in files["pyaclnn-doctor/machine/plog.txt"]
    assert "0000:c1:00.0" in files["pyaclnn-doctor/machine/pcie.txt"]


def test_the_command_writes_a_bundle_without_what_is_private(tmp_path: Path) -> None:
    log = tmp_path / "home/ascend/log/debug/plog/plog-1_1.log"
    log.parent.mkdir(parents=True)
    lines = [f"[ERROR] RUNTIME(1): drvRetCode=7 {line}\n" for line, _ in SECRETS.values()]
    log.write_text("".join(lines), encoding="utf-8")
    path = tmp_path / "bundle.tar.gz"
    command = [sys.executable, "-m", "pyaclnn", "doctor", "--backend=mock", "--level=quick"]
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "HF_TOKEN": "hf_abcdefghijklmnop",
        "ASCEND_CUSTOM_OPP_PATH": "/home/alice/merger-plans/vendors",
    }
    done = run_program([*command, f"--bundle={path}"], environment)
    assert f"bundle report: {path}" in done.stderr
    with tarfile.open(path) as archive:
        files = {
            entry.name: file.read().decode()
            for entry in archive
            if (file := archive.extractfile(entry)) is not None
        }
    assert "drvRetCode=7" in files["pyaclnn-doctor/machine/plog.txt"]
    secrets = [secret for kind, (_, secret) in SECRETS.items() if kind != "the machine's name"]
    whole = "".join(files.values())
    assert [secret for secret in (*secrets, "hf_abcdefgh", str(tmp_path)) if secret in whole] == []
