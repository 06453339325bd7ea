# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn ascendc``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file, read_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["FAULTY", "TYPES", "UNUSABLE", "compile_program", "run"]

FAULTY = 1
"""Exit status: the kernel ran and broke a rule."""
UNUSABLE = 2
"""Exit status: the kernel could not run: it does not compile, or the command line is wrong."""

_LARGEST_ARRAY: Final = 1 << 40


class _Passed(NamedTuple):
    """An argument of the kernel, and the file to write afterwards, if any."""

    value: NDArray[Any] | float
    written: Path | None = None


def run(options: argparse.Namespace) -> int:
    """Compile a kernel and run it; the exit status."""
    # Only a command line that runs a kernel waits for what that takes.
    import numpy as np  # noqa: PLC0415

    from pyaclnn import ascendc  # noqa: PLC0415

    passed: list[_Passed] = options.arguments or []
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


def compile_program(options: argparse.Namespace) -> int:
    """Compile a program with launches of kernels; the exit status."""
    from pyaclnn.ascendc import compiler  # noqa: PLC0415  # as in run

    if not options.words:
        options.parser.error("a source is missing")
    try:
        if options.headers is not None:
            compiler.write_launch_headers(map(Path, options.words), options.headers)
            return 0
        return compiler.compile_program(options.words, soc=options.soc, binary=options.binary)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"pyaclnn ascendc compile: {text_of(error)}\n")
        return UNUSABLE


def _load(text: str) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  # as in run

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
    import numpy as np  # noqa: PLC0415  # as in run

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


TYPES: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": _bytes,
    "in place": _in_place,
    "input": _input,
    "output": _output,
    "pair": _pair,
    "value": _value,
}
"""The types of options, by their names in the table."""
