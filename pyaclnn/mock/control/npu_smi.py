# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the driver's tool npu-smi, which describes the chips that are simulated.

Scripts read its tables by line and column, so they have the layout of the real tool. A sensor that
a simulated chip does not have is NA.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import text_of
from pyaclnn.facts.chips import DEFAULT_SOC_NAME, find_chip
from pyaclnn.facts.releases import simulated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyaclnn.facts.chips import Chip

__all__ = ["main"]

_DEFAULT_COUNT: Final = 2
_NO_DEVICE: Final = 1
_EDGE: Final = "+---------------------------+---------------+" + "-" * 52 + "+"
_PAGES: Final = ("board", "common", "ecc", "health", "memory", "usages")


def main(words: Sequence[str]) -> int:
    """Run the tool.

    Args:
        words: Its arguments.

    Returns:
        The exit status: 0, or 1 where a device does not exist.
    """
    parser = argparse.ArgumentParser(prog="npu-smi", description="Describe the simulated NPUs.")
    parser.add_argument(
        "-v", "--version", action="version", version=f"npu-smi version: {_version()}"
    )
    info = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "info", help="describe the devices"
    )
    kind = info.add_mutually_exclusive_group()
    kind.add_argument("-l", action="store_true", help="list the devices")
    kind.add_argument("-m", action="store_true", help="list the chips")
    kind.add_argument("-t", choices=_PAGES, metavar="TYPE", help=f"one of {', '.join(_PAGES)}")
    info.add_argument("-i", type=int, metavar="ID", help="the device of -t")
    info.add_argument("-c", type=int, metavar="CHIP", help="its chip, 0", default=None)
    options = parser.parse_args(words)
    try:
        chip, count = _chip(), _count()
    except ValueError as error:
        sys.stderr.write(f"npu-smi: {text_of(error)}\n")
        return _NO_DEVICE
    if options.t is None:
        text = (
            _listed(count)
            if options.l
            else _mapped(chip, count)
            if options.m
            else _table(chip, count)
        )
        sys.stdout.writelines(f"{line}\n" for line in text)
        return 0
    if options.i is None:
        info.error("-t needs the device: -i ID")
    if options.i not in range(count) or options.c not in {None, 0}:
        sys.stderr.write(
            f"npu-smi: no device {options.i}; {count} are simulated, each of one chip\n"
        )
        return _NO_DEVICE
    rows = _page(options.t, chip, options.i, of_chip=options.c is not None)
    sys.stdout.writelines(f"{_row(name, value)}\n" for name, value in rows.items())
    return 0


def _chip() -> Chip:
    try:
        return find_chip(os.environ.get("PYACLNN_MOCK_SOC") or DEFAULT_SOC_NAME)
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def _count() -> int:
    text = os.environ.get("PYACLNN_MOCK_DEVICES") or str(_DEFAULT_COUNT)
    if not re.fullmatch(r"\d|1[0-6]", text):
        raise ValueError(f"PYACLNN_MOCK_DEVICES is {text!r}; it must be a number from 0 to 16")
    return int(text)


def _version() -> str:
    return f"simulated {simulated().version}"


def _names(chip: Chip) -> tuple[str, str]:
    """Return the names of a chip and of its NPU, where the latter is one of its own."""
    name, _, npu = chip.soc_name.partition("_")
    return (name, npu) if chip.family == "910_93" else (chip.soc_name.removeprefix("Ascend"), "")


def _bus(device: int) -> str:
    return f"0000:{0xC1 + device:02X}:00.0"


def _row(name: str, value: object) -> str:
    return f"\t{name:30} : {value}" if name else ""


def _listed(count: int) -> Iterator[str]:
    yield _row("Card Count", count)
    for device in range(count):
        yield ""
        yield _row("NPU ID", device)
        yield _row("Chip Count", 1)


def _mapped(chip: Chip, count: int) -> Iterator[str]:
    yield "\t" + "".join(
        f"{name:31}" for name in ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    )
    name = f"Ascend {_names(chip)[0].removeprefix('Ascend')}"
    for device in range(count):
        yield "\t" + "".join(f"{value:<31}" for value in (device, 0, device, name))


def _table(chip: Chip, count: int) -> Iterator[str]:
    double = _EDGE.replace("-", "=")
    width = len(_EDGE) - 4
    yield "+" + "-" * (width + 2) + "+"
    yield f"| {f'npu-smi {_version()}':32} {f'Version: {_version()}':{width - 33}} |"
    yield _EDGE
    yield _cells("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)")
    yield _cells("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)")
    yield double
    for device in range(count):
        memory = f"0    / {chip.memory_bytes >> 20}"
        yield _cells(f"{device:<5} {_names(chip)[0]}", "OK", f"{'NA':11} {'NA':17} 0    / 0")
        yield _cells("0", _bus(device), f"{'0':11} {'0    / 0':17} {memory}")
        yield double
    yield _EDGE
    yield _cells("NPU     Chip", "Process id", "Process name             Process memory(MB)")
    yield double
    for device in range(count):
        yield f"| {f'No running processes found in NPU {device}':{width}} |"
        yield double


def _cells(first: str, second: str, third: str) -> str:
    return f"| {first:25} | {second:13} | {third:50} |"


def _page(page: str, chip: Chip, device: int, *, of_chip: bool) -> Mapping[str, object]:
    """Return a page of ``-t``: of a chip with ``-c``, else of the device."""
    name, npu = _names(chip)
    megabytes = chip.memory_bytes >> 20
    pages: dict[str, dict[str, object]] = {
        "board": {
            "Product Name": f"simulated {chip.product}",
            "Software Version": _version(),
            "Firmware Version": _version(),
            "Compatibility": "OK",
            "PCIe Bus Info": _bus(device),
        },
        "common": {
            "Memory Usage Rate(%)": 0,
            "HBM Usage Rate(%)": 0,
            "Aicore Usage Rate(%)": 0,
            "Aicore Freq(MHZ)": "NA",
            "Aicore curFreq(MHZ)": "NA",
            "Aicore Count": chip.ai_cores,
            "Temperature(C)": "NA",
            "NPU Real-time Power(W)": "NA",
        },
        "ecc": {"HBM Single Bit Error Count": 0, "HBM Double Bit Error Count": 0},
        "health": {"Health": "OK", "Error Code": "NA", "Error Information": "NA"},
        "memory": {"DDR Capacity(MB)": 0, "HBM Capacity(MB)": megabytes},
        "usages": {
            "HBM Capacity(MB)": megabytes,
            "HBM Usage Rate(%)": 0,
            "Aicore Usage Rate(%)": 0,
            "Aivector Usage Rate(%)": 0,
            "Aicpu Usage Rate(%)": 0,
            "Ctrlcpu Usage Rate(%)": 0,
            "HBM Bandwidth Usage Rate(%)": 0,
        },
    }
    rows = pages[page]
    if page == "board" and of_chip:
        rows = {"Chip Type": "Ascend", "Chip Name": name, "Chip Version": "V1"}
        rows |= {"NPU Name": npu} if npu else {}
        rows["PCIe Bus Info"] = _bus(device)
    own: dict[str, object] = {"Chip ID": 0} if of_chip else {"Chip Count": 1}
    return {"NPU ID": device, **own, **rows}


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # scripts read a line of it
    raise SystemExit(main(sys.argv[1:]))
