# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn ascendc``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file, read_file
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAULTY", "UNUSABLE", "add_to"]

FAULTY = 1
"""Exit status: the kernel ran and broke a rule."""
UNUSABLE = 2
"""Exit status: the kernel could not run: it does not compile, or the command line is wrong."""

_LARGEST_ARRAY: Final = 1 << 40
# The type has no public name.
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

_DESCRIPTION = (
    "Compile an Ascend C kernel with the host's C++ compiler and run its blocks one after the "
    "other, with strict checks. The kernel's parameters get the arguments --in, --out, --inout and "
    "--value in the order of the command line. Exits with 1 if the kernel breaks a rule, with 2 if "
    "it cannot run. What is built is kept in $XDG_CACHE_HOME/pyaclnn/ascendc or --cache-dir."
)


class _Passed(NamedTuple):
    """An argument of the kernel, and the file to write afterwards, if any."""

    value: NDArray[Any] | float
    written: Path | None = None


class _Pass(argparse.Action):
    """Action that adds converted values to one list of arguments, for several options."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        _option: str | None = None,
    ) -> None:
        namespace.arguments = [*(getattr(namespace, "arguments", None) or []), values]


def add_to(commands: _Commands) -> None:
    """Add the command to a parser.

    Args:
        commands: The result of `argparse.ArgumentParser.add_subparsers`. A parsed command line has
            the attribute `action`, to be called with it; it returns the exit status.
    """
    ascendc = commands.add_parser(
        "ascendc",
        help="run Ascend C kernels on this machine",
        description="Compile and run Ascend C kernels without an NPU and without CANN.",
    )
    parts = ascendc.add_subparsers(title="commands", required=True, metavar="COMMAND")
    run = parts.add_parser("run", help="compile and run a kernel", description=_DESCRIPTION)
    run.add_argument("kernel", type=Path, metavar="KERNEL.cpp", help="the kernel's source")
    run.add_argument("--name", help="which kernel, if the source has several")
    run.add_argument(
        "--soc",
        default=DEFAULT_SOC_NAME,
        metavar="NAME",
        help=f"chip (default: {DEFAULT_SOC_NAME})",
    )
    run.add_argument(
        "--block-dim", type=int, default=1, metavar="N", help="number of blocks (default: 1)"
    )
    _add_arguments(run)
    _add_building(run)
    run.add_argument("--timeout", type=float, metavar="SECONDS", help="stop the kernel after that")
    run.set_defaults(action=_run)


def _add_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument("--in", action=_Pass, type=_input, metavar="FILE.npy", help="an array to read")
    run.add_argument(
        "--out",
        action=_Pass,
        type=_output,
        metavar="FILE.npy:SHAPE:DTYPE",
        help="an array of zeros, written to the file afterwards; as y.npy:8,64:float16",
    )
    run.add_argument(
        "--inout",
        action=_Pass,
        type=_in_place,
        metavar="FILE.npy",
        help="an array to read, written back to its file afterwards",
    )
    run.add_argument(
        "--value", action=_Pass, type=_value, metavar="NUMBER", help="a number, passed by value"
    )
    run.add_argument(
        "--tiling",
        type=_bytes,
        action="append",
        metavar="FILE",
        help="a file with the bytes of the tiling data; several are joined",
    )
    run.add_argument(
        "--workspace", type=int, default=0, metavar="BYTES", help="workspace memory (default: 0)"
    )


def _add_building(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--tiling-data",
        type=_pair,
        action="append",
        metavar="FIELD=TYPE",
        help="a field of the structure that GET_TILING_DATA reads, as "
        "layerNormTiling=LayerNormTiling; in order",
    )
    run.add_argument(
        "-I", "--include", type=Path, action="append", metavar="DIR", help="folder of headers"
    )
    run.add_argument(
        "-D", "--define", type=_pair, action="append", metavar="NAME=VALUE", help="a macro"
    )
    run.add_argument(
        "--sanitize", action="store_true", help="build with the address and undefined sanitizers"
    )
    run.add_argument("--cache-dir", type=Path, metavar="DIR", help="where to keep what is built")


def _run(options: argparse.Namespace) -> int:
    # Only a command line that runs a kernel waits for what that takes.
    import numpy as np  # noqa: PLC0415

    from pyaclnn import ascendc  # noqa: PLC0415

    passed: list[_Passed] = getattr(options, "arguments", None) or []
    try:
        kernel = ascendc.compile(
            options.kernel,
            name=options.name,
            soc=options.soc,
            tiling_data=dict(options.tiling_data) if options.tiling_data else None,
            include_dirs=options.include or (),
            defines=dict(options.define or ()),
            sanitize=options.sanitize,
            cache_dir=options.cache_dir,
        )
        kernel.launch(
            options.block_dim,
            *(argument.value for argument in passed),
            tiling=options.tiling,
            workspace=options.workspace,
            timeout=options.timeout,
        )
    except ascendc.KernelFault as fault:
        sys.stderr.write(f"{fault}\n")
        return FAULTY
    except FileNotFoundError as error:
        sys.stderr.write(f"pyaclnn ascendc run: there is no file '{error.filename}'\n")
        return UNUSABLE
    except (ascendc.CompileError, OSError, TypeError, ValueError) as error:
        sys.stderr.write(f"pyaclnn ascendc run: {text_of(error)}\n")
        return UNUSABLE
    for value, path in passed:
        if path is not None and isinstance(value, np.ndarray):
            try:
                np.save(path, value)
            except OSError as error:
                why = error.strerror or error
                sys.stderr.write(f"pyaclnn ascendc run: {path} cannot be written: {why}\n")
                return UNUSABLE
            sys.stdout.write(f"{path}: {value.dtype} {list(value.shape)}\n")
    return 0


def _load(text: str) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  # as in _run

    try:
        with open_file(text, "an array", most=_LARGEST_ARRAY) as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or error
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {why}") from None
    except (ValueError, EOFError):
        raise argparse.ArgumentTypeError(
            f"{text} cannot be read: it is no whole .npy file of numbers, as numpy.save writes it"
        ) from None
    return np.ascontiguousarray(array)


def _input(text: str) -> _Passed:
    return _Passed(_load(text))


def _in_place(text: str) -> _Passed:
    return _Passed(_load(text), Path(text))


def _output(text: str) -> _Passed:
    import numpy as np  # noqa: PLC0415  # as in _run

    try:
        path, shape, dtype = text.rsplit(":", 2)
        dims = [int(dim) for dim in shape.replace("x", ",").split(",")]
        passed = _Passed(np.zeros(dims, dtype), file := Path(path).with_suffix(".npy"))
    except (ValueError, TypeError):
        raise argparse.ArgumentTypeError(
            f"'{text}' names no array; it must be FILE.npy:SHAPE:DTYPE, as y.npy:8,64:float16"
        ) from None
    # Known before the kernel runs, which may take long.
    if not file.parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"{file} cannot be written: there is no folder {file.parent}"
        )
    return passed


def _value(text: str) -> _Passed:
    try:
        return _Passed(int(text, 0))
    except ValueError:
        return _Passed(float(text))


def _bytes(text: str) -> bytes:
    try:
        return read_file(text, "tiling data", streams=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error.strerror}") from None


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' must be NAME=VALUE")
    return name.strip(), value.strip()
