# SPDX-License-Identifier: Apache-2.0
"""Byte code of the package and of the tests, written once a run and read by every process."""

from __future__ import annotations

import atexit
import compileall
import contextlib
import multiprocessing
import os
import py_compile
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite

import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compile_the_package", "keep_byte_code", "rewrite_the_tests"]


def keep_byte_code(folder: Path) -> None:
    """Let this process, workers and children keep byte code, though not beside the sources.

    Hundreds of processes start here. Compiling the package takes each as long as all else it does.

    Args:
        folder: Where to; what is compiled of temporary files is removed at the end of the run.
    """
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    temporary = folder / Path(tempfile.gettempdir()).relative_to("/")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)


def compile_the_package() -> None:
    """Write the byte code of the package that is tested, as far as it is not there.

    The loader of an editable install reads byte code and never writes it. Without this, each of the
    processes that start here would compile every module that it loads.
    """
    if not sys.dont_write_bytecode:
        compileall.compile_dir(Path(pyaclnn.__file__).parent, quiet=2, workers=0)


def rewrite_the_tests(config: pytest.Config) -> None:
    """Write the byte code of the tests, with pytest's assertions, as far as it is not there.

    Workers import all tests, in the same order at the same time: without this, each of them would
    rewrite every file, which takes longer than all else of a collection.

    Args:
        config: That of the process which starts workers.
    """
    if sys.dont_write_bytecode or config.getoption("assertmode") != "rewrite":
        return
    files = sorted(Path(__file__).parent.rglob("*.py"))
    count = len(os.sched_getaffinity(0))
    start = multiprocessing.get_context("fork").Process
    processes = [start(target=_write, args=(files[n::count], config)) for n in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise pytest.UsageError("byte code of tests could not be written; see the traceback above")


def _write(files: Sequence[Path], config: pytest.Config) -> None:
    """Write the byte code of some files; an error in one of them is reported by its import."""
    for file in files:
        with contextlib.suppress(SyntaxError, py_compile.PyCompileError):
            if file.name == "conftest.py" or file.name.startswith("test_"):
                _rewrite(file, config)
            else:
                compileall.compile_file(file, quiet=2)


def _rewrite(file: Path, config: pytest.Config) -> None:
    """Do as pytest's loader when it imports a file of tests, without executing that."""
    folder = rewrite.get_cache_dir(file)
    target = folder / f"{file.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(file, target) is None:  # there is no public function
        folder.mkdir(parents=True, exist_ok=True)
        mark, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, mark, target)
