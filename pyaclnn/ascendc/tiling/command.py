# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn tiling``."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

from pyaclnn.ascendc.tiling.arithmetic import TilingError
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

__all__ = ["UNUSABLE", "add_to"]

UNUSABLE = 2
"""Exit status: there is no such tiling, or the command line is wrong."""

# The type has no public name.
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

_INTERFACES = {
    "layernorm": "LayerNorm with mean and variance",
    "layernorm-rstd": "LayerNorm with mean and reciprocal standard deviation",
    "layernorm-grad": "LayerNormGrad",
    "layernorm-grad-beta": "LayerNormGradBeta",
}
_TYPE_SIZES = {"half": 2, "float16": 2, "float": 4, "float32": 4}


def add_to(commands: _Commands) -> None:
    """Add the command to a parser.

    Args:
        commands: The result of `argparse.ArgumentParser.add_subparsers`. A parsed command line has
            the attribute `action`, to be called with it; it returns the exit status.
    """
    tiling = commands.add_parser(
        "tiling",
        help="compute the tiling of a kernel's normalization",
        description="Compute what CANN's host functions compute for kernels that call the Ascend C "
        "normalization interfaces: the sizes of the temporary buffer and the tiling structure.",
    )
    interfaces = tiling.add_subparsers(title="interfaces", required=True, metavar="INTERFACE")
    for name, text in _INTERFACES.items():
        _add_interface(interfaces, name, text)


def _add_interface(interfaces: _Commands, name: str, text: str) -> None:
    rows = "A,R" if name == "layernorm-rstd" else "B,S,H"
    parser = interfaces.add_parser(
        name,
        help=text,
        description=f"Sizes of the temporary buffer, tiling structure and buffer layout of {text}. "
        "Exits with 2 if there is no such tiling.",
    )
    parser.add_argument(
        "--shape", type=_shape, required=True, metavar=rows, help="shape of the input, as 2,32,16"
    )
    if name != "layernorm-rstd":
        parser.add_argument(
            "--origin-h",
            type=int,
            metavar="H",
            help="how many elements of a row are data, the rest being padding (default: all)",
        )
    parser.add_argument("--dtype", choices=_TYPE_SIZES, default="float", help="default: float")
    parser.add_argument(
        "--stack",
        type=int,
        metavar="BYTES",
        help="size of the temporary buffer, stackBufferSize (default: the maximum)",
    )
    parser.add_argument(
        "--reuse", action="store_true", help="the kernel may overwrite its source: isReuseSource"
    )
    if name == "layernorm-rstd":
        parser.add_argument(
            "--no-compute-rstd",
            action="store_true",
            help="the kernel outputs the variance in place of rstd (Ascend 950)",
        )
    parser.add_argument(
        "--soc",
        default=DEFAULT_SOC_NAME,
        metavar="NAME",
        help=f"chip (default: {DEFAULT_SOC_NAME})",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(action=_run, interface=name, axes=rows, parser=parser)


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no shape; it must be whole numbers with commas, as 2,32,16"
        ) from None


def _run(options: argparse.Namespace) -> int:
    # Only a command line that asks for a tiling pays for computing and drawing one.
    from pyaclnn.ascendc.tiling import picture  # noqa: PLC0415
    from pyaclnn.ascendc.tiling.plan import make_plan  # noqa: PLC0415
    from pyaclnn.ascendc.tiling.request import TilingRequest  # noqa: PLC0415

    request = TilingRequest(
        interface=options.interface,
        src_shape=_src_shape(options),
        type_size=_TYPE_SIZES[options.dtype],
        reuse=options.reuse,
        compute_rstd=not getattr(options, "no_compute_rstd", False),
        soc=options.soc,
    )
    try:
        plan = make_plan(request, options.stack)
    except TilingError as error:
        sys.stderr.write(f"pyaclnn tiling {options.interface}: {error}\n")
        return UNUSABLE
    if options.json:
        sys.stdout.write(picture.as_json(plan) + "\n")
    else:
        picture.as_picture(plan)
    return 0


def _src_shape(options: argparse.Namespace) -> tuple[int, ...]:
    """Bring the shape to what the host functions take, which ends in the length without padding."""
    shape: tuple[int, ...] = options.shape
    if len(shape) != options.axes.count(",") + 1:
        options.parser.error(f"argument --shape: it must be {options.axes}")
    if options.interface == "layernorm-rstd":
        return shape
    return (*shape, shape[-1] if options.origin_h is None else options.origin_h)
