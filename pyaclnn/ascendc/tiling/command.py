# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn tiling``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.ascendc.tiling.arithmetic import TilingError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TYPES", "UNUSABLE", "run"]

UNUSABLE = 2
"""Exit status: there is no such tiling, or the command line is wrong."""

_TYPE_SIZES = {"half": 2, "float16": 2, "float": 4, "float32": 4}


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no shape; it must be whole numbers with commas, as 2,32,16"
        ) from None


TYPES: Final[dict[str, Callable[[str], Any]]] = {"shape": _shape}
"""The types of options, by their names in the table."""


def run(options: argparse.Namespace) -> int:
    """Compute a tiling and print it; the exit status."""
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
