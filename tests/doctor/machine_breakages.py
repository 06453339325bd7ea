# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine, its driver and CANN's tools, one function each."""

from __future__ import annotations

import json
import shutil

from .installations import ARCH, KERNELS, Fabricated, write
from .parts import patched


def no_nodes(made: Fabricated) -> None:
    shutil.rmtree(made.root / "dev")


def in_container(made: Fabricated) -> None:
    made.write("/proc/1/cgroup", "12:pids:/docker/0123456789abcdef\n")
    (made.root / "usr/local/dcmi").mkdir()


def container_without_nodes(made: Fabricated) -> None:
    in_container(made)
    no_nodes(made)


def container_without_manager(made: Fabricated) -> None:
    in_container(made)
    no_manager(made)


def container_without_driver(made: Fabricated) -> None:
    in_container(made)
    shutil.rmtree(made.driver)


def container_without_tools(made: Fabricated) -> None:
    in_container(made)
    (made.root / "usr/local/dcmi").rmdir()


def node_is_a_folder(made: Fabricated) -> None:
    node = made.root / "dev/davinci0"
    node.unlink()
    node.mkdir()


def node_is_a_file(made: Fabricated) -> None:
    made.write("/dev/davinci0", "a file").chmod(0o660)


def driver_unloaded(made: Fabricated) -> None:
    made.write("/proc/devices", "Character devices:\n  1 mem\n 10 misc\n\nBlock devices:\n236 sd\n")


def forbidden_by_cgroup(made: Fabricated) -> None:
    made.write("/sys/fs/cgroup/devices/devices.list", "c 1:3 rwm\nc 236:1 rwm\nc *:* m\n")


def _module(made: Fabricated, kernel: str) -> None:
    description = f"\x7fELF\0license=GPL\0srcversion=AAAA\0vermagic={kernel} SMP mod_unload\0"
    write(made.driver / "host/drv_pcie_host.ko", description)


def updated_driver(made: Fabricated) -> None:
    _module(made, "5.10.0")
    made.write("/sys/module/drv_pcie_host/srcversion", "BBBB\n")


def driver_of_another_kernel(made: Fabricated) -> None:
    _module(made, "4.19.90-1")


def _on_bus(made: Fabricated, **files: str) -> None:
    """Put two NPUs, of which the second has other files, and a network card on the PCIe bus."""
    usual = {
        "vendor": "0x19e5",
        "class": "0x120000",
        "current_link_speed": "16.0 GT/s PCIe",
        "max_link_speed": "32.0 GT/s PCIe",
        "current_link_width": "16",
        "max_link_width": "16",
        "aer_dev_correctable": "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3",
        "aer_dev_fatal": "Undefined 0\nTOTAL_ERR_FATAL 0",
        "aer_dev_nonfatal": "Undefined 0\nTOTAL_ERR_NONFATAL 0",
    }
    port = "/sys/devices/pci0000:80/0000:80:00.0"
    made.write(f"{port}/max_link_speed", "16.0 GT/s PCIe\n")
    made.write(f"{port}/max_link_width", "16\n")
    network = {"class": "0x020000", "current_link_width": "1"}
    for name, changed in (("81", {}), ("82", files), ("83", network)):
        address = f"0000:{name}:00.0"
        for file, text in {**usual, **changed}.items():
            made.write(f"{port}/{address}/{file}", f"{text}\n")
        bus = made.root / "sys/bus/pci/devices"
        bus.mkdir(parents=True, exist_ok=True)
        (bus / address).symlink_to(made.root / port[1:] / address)


def sound_links(made: Fabricated) -> None:
    _on_bus(made)


def narrow_link(made: Fabricated) -> None:
    _on_bus(made, current_link_width="4")


def slow_link(made: Fabricated) -> None:
    _on_bus(made, current_link_speed="2.5 GT/s PCIe")


def errors_of_a_link(made: Fabricated) -> None:
    _on_bus(made, aer_dev_nonfatal="Undefined 5\nTOTAL_ERR_NONFATAL 5")


def undriven(made: Fabricated) -> None:
    _on_bus(made)
    no_nodes(made)


def no_manager(made: Fabricated) -> None:
    (made.root / "dev/davinci_manager").unlink()


def wrong_group(made: Fabricated) -> None:
    made.gids = {61000}


def no_driver(made: Fabricated) -> None:
    shutil.rmtree(made.driver)


def folder_for_a_mounted_file(made: Fabricated) -> None:
    in_container(made)
    path = made.root / "etc/ascend_install.info"
    path.unlink()
    path.mkdir()


def no_driver_version(made: Fabricated) -> None:
    in_container(made)
    (made.driver / "version.info").unlink()


def real_folder_of_links(made: Fabricated) -> None:
    """Make ``latest`` what it is in CANN 8: a folder of links, here with the real path in front."""
    real = made.cann.resolve()
    made.cann.unlink()
    made.cann.mkdir()
    for path in real.iterdir():
        (made.cann / path.name).symlink_to(f"../{real.name}/{path.name}")
    before = made.environment["LD_LIBRARY_PATH"]
    made.environment["LD_LIBRARY_PATH"] = f"{real / 'lib64'}:{before}"


def other_firmware(made: Fabricated) -> None:
    write(made.driver.parent / "firmware/version.info", "Version=24.1.0\n")


def no_modules(made: Fabricated) -> None:
    made.write("/proc/modules", "ext4 1 0 - Live 0x0\n")


def old_interface(made: Fabricated) -> None:
    made.edit(made.driver / "version.info", "7.35.23", "3.9.0")


def another_driver_in_front(made: Fabricated) -> None:
    copy = shutil.copytree(made.driver, made.root / "opt/driver")
    before = made.environment["LD_LIBRARY_PATH"]
    made.environment["LD_LIBRARY_PATH"] = f"{copy}/lib64/driver:{before}"


def old_driver(made: Fabricated) -> None:
    made.edit(made.driver / "version.info", "Version=25.5.0", "Version=23.0.7")


# ---- operators, chips, Python -------------------------------------------------------------------


BINARIES = "built-in/op_impl/ai_core/tbe/kernel/config/ascend910b/binary_info_config.json"


def no_kernels(made: Fabricated) -> None:
    shutil.rmtree(made.opp / KERNELS / "ascend910b")


def kernels_of_another_chip(made: Fabricated) -> None:
    folder = made.opp / KERNELS
    (folder / "ascend910b").rename(folder / "ascend310p")


def lists_without_binaries(made: Fabricated) -> None:
    kernel_without_binary(made)
    (made.opp / BINARIES).unlink()


def kernel_without_binary(made: Fabricated) -> None:
    tbe = made.opp / "built-in/op_impl/ai_core/tbe"
    ports = {
        name: {"name": name, "dtype": "float16,float", "paramType": "required"}
        for name in ("input0", "input1", "output0", "output1")
    }
    lists = {"LayerNorm": ports, "RmsNorm": ports, "RmsNormGrad": ports}
    keys = {"binaryList": [{"simplifiedKey": ["RmsNormGrad/d=0,p=0/1,2/1,2/1,2/1,2"]}]}
    path = tbe / "config/ascend910b/aic-ascend910b-ops-info.json"
    write(path, json.dumps(lists))
    write(made.opp / BINARIES, json.dumps({"LayerNorm": keys, "RmsNormGrad": keys}))


def unknown_chip(made: Fabricated) -> None:
    (made.cann / ARCH / "data/platform_config/Ascend910B3.ini").unlink()


def python_without_scipy(made: Fabricated) -> None:
    del made.python["scipy"]


def numpy_2(made: Fabricated) -> None:
    made.python["numpy"] = "2.1.0"


def unresolved(made: Fabricated) -> None:
    """Let the runtime ask for a function that what it needs does not have."""
    library = made.lib64 / "libvendr.so"
    patched(library, library, (b"mock_operator_arrive", b"mock_operator_gone"))


def no_room_for_children(made: Fabricated) -> None:
    made.environment["TMPDIR"] = str(made.root / "full")


def roots_own(made: Fabricated) -> None:
    wrong_group(made)
    made.edit(made.root / "etc/ascend_install.info", "UserGroup=HwHiAiUser", "UserGroup=root")


def garbled_driver_version(made: Fabricated) -> None:
    (made.driver / "version.info").write_text("\x7fgarbage\n")


def plain_python(made: Fabricated) -> None:
    made.python = {"numpy": "2.3.0", "attrs": "24.1.0"}


def prepared_python(made: Fabricated) -> None:
    made.python = {"numpy": "2.3.0", "torch_npu": "2.5.1"}


def custom_operators_of_another_processor(made: Fabricated) -> None:
    library = made.opp / "vendors/mine/op_api/lib/libcust_opapi.so"
    image = bytearray(made.operators.read_bytes())
    image[18:20] = (8).to_bytes(2, "little")
    library.parent.mkdir(parents=True)
    library.write_bytes(image)
    write(made.opp / "vendors/config.ini", "load_priority=mine\n")
