# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn ascendc run``: kernels from the shell, arrays in files."""

from __future__ import annotations

import argparse
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.ascendc.command import FAULTY, UNUSABLE
from pyaclnn.cli import add_to

from .conftest import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., int]

BY_HAND = KERNELS / "layer_norm_by_hand.cpp"
FAULTS = KERNELS / "faults.cpp"


@pytest.fixture
def run(cache_dir: Path) -> Run:
    """Return the command, with the session's cache."""
    parser = argparse.ArgumentParser(prog="pyaclnn")
    add_to(parser.add_subparsers(), "ascendc")

    def command(*arguments: str | Path) -> int:
        words = ["ascendc", "run", "--cache-dir", cache_dir, *arguments]
        options = parser.parse_args(list(map(str, words)))
        return int(options.action(options))

    return command


def save(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


@pytest.mark.exhaustive
def test_arrays_come_from_files_and_go_to_files(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.arange(128, dtype=np.float16).reshape(4, 32)
    files = {
        "x": save(tmp_path / "x.npy", x),
        "gamma": save(tmp_path / "gamma.npy", np.ones(32, np.float32)),
        "beta": save(tmp_path / "beta.npy", np.zeros(32, np.float32)),
    }
    (tmp_path / "tiling").write_bytes(struct.pack("<II", 2, 32))
    (tmp_path / "epsilon").write_bytes(struct.pack("<f", 1e-5))
    out = tmp_path / "y.npy"
    inputs = [word for path in files.values() for word in ("--in", path)]
    tiling = ["--tiling", tmp_path / "tiling", "--tiling", tmp_path / "epsilon"]
    assert run(BY_HAND, *inputs, "--out", f"{out}:4,32:float16", *tiling, "--block-dim", 2) == 0
    assert capsys.readouterr().out == f"{out}: float16 [4, 32]\n"
    exact = x.astype(np.float64)
    expected = (exact - exact.mean(-1, keepdims=True)) / exact.std(-1, keepdims=True)
    np.testing.assert_allclose(np.load(out), expected, rtol=2**-9, atol=1e-6)


def test_a_fault_is_told_and_writes_nothing(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = save(tmp_path / "x.npy", np.zeros(64, np.float32)), tmp_path / "y.npy"
    command = [FAULTS, "--name", "double_free", "--in", x, "--out", f"{y}:64:float32"]
    assert run(*command, "--value", 1) == FAULTY
    printed = capsys.readouterr()
    assert "rule: queue" in printed.err
    assert f"{FAULTS}:" in printed.err
    assert not y.exists()
    assert run(*command, "--value", 0) == 0
    assert y.exists()


@pytest.mark.exhaustive
def test_an_array_can_be_written_back(tmp_path: Path, run: Run) -> None:
    x = save(tmp_path / "x.npy", np.zeros(64, np.float32))
    y = save(tmp_path / "y.npy", np.full(64, 9, np.float32))
    assert run(FAULTS, "--name", "same_place", "--in", x, "--inout", y, "--value", 0) == 0
    np.testing.assert_array_equal(np.load(y), np.zeros(64))


@pytest.mark.exhaustive
def test_a_kernel_that_does_not_compile_shows_its_line(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "kernel.cpp"
    source.write_text(
        '#include "kernel_operator.h"\n__global__ __aicore__ void f(GM_ADDR x) { *x = MISSING; }\n',
        encoding="utf-8",
    )
    x = save(tmp_path / "x.npy", np.zeros(1, np.uint8))
    assert run(source, "--in", x) == UNUSABLE
    assert f"{source}:2: " in capsys.readouterr().err
    assert run(source, "--inout", x, "-D", "MISSING=5") == 0
    assert np.load(x)[0] == 5


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--in", "missing.npy"], "missing.npy cannot be read"),
        (["--out", "y.npy"], "must be FILE.npy:SHAPE:DTYPE"),
        (["--out", "y.npy:2:float17"], "must be FILE.npy:SHAPE:DTYPE"),
        (["--out", "/nonexist/y.npy:2:half"], "y.npy cannot be written: there is no folder /non"),
        (["--tiling", "missing"], "missing cannot be read"),
        (["--tiling-data", "field"], "must be NAME=VALUE"),
    ],
)
def test_a_wrong_command_line_ends_with_2(
    arguments: list[str], words: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(BY_HAND, *arguments)
    assert ended.value.code == UNUSABLE
    assert words in capsys.readouterr().err


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.cpp"], "missing.cpp"),
        ([str(BY_HAND), "--soc", "Ascend1"], "'Ascend1' is unknown"),
        ([str(BY_HAND)], "it takes 4: x, gamma, beta, y"),
        ([str(FAULTS)], "name must be one of"),
    ],
)
def test_what_cannot_run_ends_with_2(
    arguments: list[str], words: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == UNUSABLE
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"1 2 3", b"\x80\x04]\x94.", b"PK\x03\x04", "objects"])
def test_a_file_without_an_array_of_numbers_is_called_that(
    content: bytes | str, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.npy"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        np.save(file, np.array([{}], dtype=object))
    with pytest.raises(SystemExit) as ended:
        run(BY_HAND, "--in", file)
    assert ended.value.code == UNUSABLE
    printed = capsys.readouterr().err
    assert f"{file} cannot be read: it is no whole .npy file of numbers" in printed
    assert "pickle" not in printed


def test_a_result_that_cannot_be_written_ends_with_2(
    tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = save(tmp_path / "x.npy", np.zeros(64, np.float32)), tmp_path / "y.npy"
    y.mkdir()
    command = [FAULTS, "--name", "double_free", "--in", x, "--out", f"{y}:64:float32"]
    assert run(*command, "--value", 0) == UNUSABLE
    assert f"{y} cannot be written: Is a directory" in capsys.readouterr().err
