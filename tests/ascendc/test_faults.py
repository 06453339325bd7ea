# SPDX-License-Identifier: Apache-2.0
"""Every check fires on a wrong kernel, at the right line, and is silent on its right twin."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from pyaclnn.ascendc import KernelFault
from pyaclnn.ascendc.fault import RULES

from .conftest import KERNELS

if TYPE_CHECKING:
    from .conftest import Build

SOURCE = KERNELS / "faults.cpp"
LINES = SOURCE.read_text(encoding="utf-8").splitlines()


class Case(NamedTuple):
    """A kernel, the rule it breaks, the call that must notice, and words of the report."""

    kernel: str
    rule: str
    api: str
    tensor: str
    words: str


CASES = [
    Case("double_free", "queue", "FreeTensor", "tensor (buffer 0 of a VECIN queue", "already"),
    Case("deque_of_nothing", "queue", "DeQue", "'in' set up in faults.cpp", "is empty"),
    Case("missing_free", "queue", "AllocTensor", "buffer 0 of a VECIN", "FreeTensor is missing"),
    Case("missing_deque", "queue", "EnQue", "VECIN", "DeQue is missing"),
    Case("too_deep", "queue", "EnQue", "buffer 1 of a VECIN queue", "depth 1"),
    Case("no_buffer_left", "queue", "AllocTensor", "'out' set up", "all 1 buffers"),
    Case("use_after_free", "queue", "Adds", "src", "given back with FreeTensor"),
    Case("use_while_queued", "queue", "Adds", "src", "waits in its queue"),
    Case("free_in_queue", "queue", "FreeTensor", "VECIN", "DeQue it before"),
    Case("foreign_queue", "queue", "FreeTensor", "VECIN", "another queue"),
    Case("second_pipe", "queue", "TPipe", "", "one TPipe at a time"),
    Case("no_memory", "queue", "TBuf::Get", "", "InitBuffer was never called"),
    Case("pipe_is_gone", "queue", "AllocTensor", "", "its TPipe is gone"),
    Case("odd_copy", "alignment", "DataCopy", "", "48 bytes are to be copied"),
    Case("odd_slice", "alignment", "Adds", "src", "begins 16 bytes behind"),
    Case("too_much_padding", "alignment", "DataCopyPad", "", "36 bytes of padding"),
    Case("in_matrix_memory", "position", "Duplicate", "'matrix' set up", "lies in A1"),
    Case("too_large", "capacity", "InitBuffer", "", "has 196608 bytes"),
    Case("beyond_local", "bounds", "Duplicate", "dst", "it has 256 (64 elements of float)"),
    Case("beyond_global", "bounds", "DataCopy", "src (the argument x)", "there are 192"),
    Case("larger_than_argument", "bounds", "GlobalTensor::SetGlobalBuffer", "x", "65 elements"),
    Case("wild_index", "bounds", "LocalTensor::GetValue", "VECIN", "it has 256"),
    Case("wild_slice", "bounds", "LocalTensor::operator[]", "VECIN", "offset -1"),
    Case("no_address", "bounds", "GlobalTensor::GetValue", "", "SetGlobalBuffer was never"),
    Case("never_computed", "uninitialised", "DataCopy", "src", "element 56"),
    Case("never_filled", "uninitialised", "Add", "src0 (a VECCALC buffer, 'scratch'", "element 0"),
    Case("unordered_input", "synchronisation", "Adds", "src", "EnQue and DeQue"),
    Case(
        "unordered_value", "synchronisation", "LocalTensor::GetValue", "tensor", "the scalar unit"
    ),
    Case("wrong_direction", "synchronisation", "DataCopy", "src", "of that direction"),
    Case("wait_without_set", "synchronisation", "WaitFlag", "", "event 1 is not set"),
    Case("set_without_wait", "synchronisation", "SetFlag", "", "event 2 is set"),
    Case("spread_over_itself", "overlap", "Brcb", "dst", "shares memory with src0"),
    Case("integer_division", "dtype", "Div", "", "does not compute in int32_t"),
    Case("cast_without_direction", "dtype", "Cast", "", "needs one of the round modes"),
    Case("opened_as_half", "dtype", "GlobalTensor::SetGlobalBuffer", "x", "holds float"),
    Case("little_work_space", "temporary", "ReduceSum", "sharedTmpBuffer", "it has 4 elements"),
    Case("empty_mask", "bounds", "Adds", "", "the mask is 65"),
    Case("repeats_of_two_bytes", "bounds", "Adds", "", "repeatTimes is 257; it must be 0 to 255"),
    Case("many_blocks", "bounds", "DataCopy", "", "blockCount is 4096; it must be at most 4095"),
    Case(
        "little_space_for_pairs",
        "temporary",
        "ReduceMax",
        "sharedTmpBuffer",
        "it has 16 elements; the extreme with its index of 64 needs 24",
    ),
    Case(
        "cast_by_one_step",
        "dtype",
        "Cast",
        "",
        "no Cast from float to int8_t on this chip: cast to half first",
    ),
    Case("shifted_up", "overlap", "Adds", "dst", "it begins 32 bytes behind src"),
    Case("ninth_event", "synchronisation", "SetFlag", "", "two units have the events 0 to 7"),
]


def launch(build: Build, kernel: str, wrong: int, block_dim: int = 1) -> np.ndarray:
    x = np.arange(64, dtype=np.float32)
    y = np.zeros(64, np.float32)
    build("faults.cpp", kernel).launch(block_dim, x, y, wrong, timeout=900)
    return y


def fault_of(build: Build, kernel: str, block_dim: int = 1) -> KernelFault:
    with pytest.raises(KernelFault) as raised:
        launch(build, kernel, 1, block_dim)
    return raised.value


def line_of(kernel: str) -> int:
    return next(n for n, line in enumerate(LINES, 1) if line.endswith(f"// {kernel}"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_the_wrong_kernel_is_stopped_at_its_line(case: Case, build: Build) -> None:
    fault = fault_of(build, case.kernel)
    assert (fault.rule, fault.api) == (case.rule, case.api)
    assert (fault.file, fault.line) == (str(SOURCE), line_of(case.kernel))
    assert case.words in fault.message
    assert case.tensor in fault.tensor
    assert LINES[fault.line - 1].strip()[:60] in str(fault)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_its_right_twin_runs(case: Case, build: Build) -> None:
    launch(build, case.kernel, 0)


def test_blocks_that_write_the_same_bytes_are_stopped(build: Build) -> None:
    fault = fault_of(build, "same_place", block_dim=4)
    assert (fault.rule, fault.api, fault.block) == ("race", "DataCopy", 1)
    assert "which block 0 wrote as well" in fault.message
    result = launch(build, "same_place", 0, block_dim=4)
    np.testing.assert_array_equal(result, np.repeat(np.arange(4, dtype=np.float32), 16))


def test_a_block_that_reads_another_ones_result_is_stopped(build: Build) -> None:
    fault = fault_of(build, "other_blocks_result", block_dim=2)
    assert (fault.rule, fault.line) == ("race", line_of("other_blocks_result"))
    launch(build, "other_blocks_result", 0, block_dim=2)


def test_a_block_that_writes_what_another_one_reads_is_stopped(build: Build) -> None:
    fault = fault_of(build, "moved_by_one", block_dim=3)
    assert (fault.rule, fault.line, fault.block) == ("race", line_of("moved_by_one"), 1)
    assert "block 1 writes byte 4, which block 0 read" in fault.message
    assert launch(build, "moved_by_one", 0, block_dim=3)[:4].tolist() == [1, 1, 1, 0]


def test_a_wild_address_stops_the_kernel_and_not_python(build: Build) -> None:
    fault = fault_of(build, "wild_address")
    assert fault.rule == "crash"
    assert "SIGSEGV" in fault.message
    assert fault.line == line_of("wild_address"), "the last call of the interface before it"
    launch(build, "wild_address", 0)


def test_an_endless_kernel_is_stopped_when_a_limit_is_given(build: Build) -> None:
    kernel = build("faults.cpp", "endless")
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(KernelFault, match=r"did not end within 0\.2 s") as raised:
        kernel.launch(1, *arrays, 1, timeout=0.2)
    assert raised.value.rule == "timeout"
    kernel.launch(1, *arrays, 0, timeout=900)


def test_a_fault_leaves_the_arrays_as_they_were(build: Build) -> None:
    y = np.full(64, 7, np.float32)
    with pytest.raises(KernelFault):
        build("faults.cpp", "same_place").launch(4, np.zeros(64, np.float32), y, 1)
    assert (y == 7).all()


@pytest.mark.exhaustive
def test_the_unified_buffer_is_that_of_the_chip(build: Build) -> None:
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32)
    build("faults.cpp", "too_large", soc="Ascend310P3").launch(1, *arrays, 1)


def test_a_fault_is_a_runtime_error_that_can_be_sent_to_another_process(build: Build) -> None:
    fault = fault_of(build, "double_free")
    assert isinstance(fault, RuntimeError)
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301  # it was made in the line before
    assert vars(again) == vars(fault)
    assert str(again) == str(fault)


def test_every_rule_of_a_case_is_explained() -> None:
    assert {case.rule for case in CASES} <= set(RULES)
