# SPDX-License-Identifier: Apache-2.0
"""Executors: the rules of both kinds, repeatable ones, new addresses, the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .programs import Programs

pytestmark = pytest.mark.usefixtures("context")
ZEROS, ONES = bytes(64), b"\x00\x00\x80\x3f" * 16


class Composite:
    """aclnnLayerNormBackward over rows of 8 columns: an operator written by hand."""

    def __init__(self) -> None:
        rows = next(npu.new_rows)
        shapes = ((rows, 8), (rows, 8), (rows, 1), (rows, 1), (8,), (rows, 8))
        self.bytes = rows * 32
        self.memory = [npu.device_memory(self.bytes) for _ in shapes]
        for address in self.memory[:5]:
            npu.write(address, ONES[:4] * (rows * 8))
        self.tensors = [
            npu.tensor(shape, address) for shape, address in zip(shapes, self.memory, strict=True)
        ]
        self.shape = lib.aclCreateIntArray([8], 1)
        self.mask = lib.aclCreateBoolArray([True, False, False], 3)
        self.workspace, self.size = NULL, 0

    def check(self, size: Any = None, executor: Any = None) -> Any:
        """Run phase 1; the executor, or its status if pointers were given."""
        made = ffi.new("aclOpExecutor **")
        number = ffi.new("uint64_t *")
        given = (number if size is None else size, made if executor is None else executor)
        dy, x, mean, rstd, weight, dx = self.tensors
        status = lib.aclnnLayerNormBackwardGetWorkspaceSize(
            dy, x, self.shape, mean, rstd, weight, NULL, self.mask, dx, NULL, NULL, *given
        )
        if (size, executor) != (None, None):
            return status
        assert status == 0, npu.message()
        if number[0] > self.size:
            npu.memory_to_free.append(self.workspace)
            self.workspace = npu.device_memory(number[0])
        self.size = number[0]
        return made[0]

    def run(self, executor: Any, on: Any = NULL) -> int:
        status: int = lib.aclnnLayerNormBackward(self.workspace, self.size, executor, on)
        return status

    @property
    def dx(self) -> bytes:
        return npu.read(self.memory[5], 64)

    def close(self) -> None:
        npu.call("aclDestroyIntArray", self.shape)
        npu.call("aclDestroyBoolArray", self.mask)
        for made in self.tensors:
            npu.call("aclDestroyTensor", made)
        for address in self.memory:
            npu.call("aclrtFree", address)
        if self.workspace != NULL:
            npu.call("aclrtFree", self.workspace)


@pytest.fixture
def composite(context: Any) -> Iterator[Composite]:
    del context
    made = Composite()
    yield made
    made.close()


@pytest.fixture(params=["composite", "individual"])
def operator(request: pytest.FixtureRequest, problem: npu.RmsNormGrad) -> Any:
    """Either kind of operator."""
    return problem if request.param == "individual" else request.getfixturevalue("composite")


class TestBothKinds:
    def test_phase_2_consumes_the_executor(self, operator: Any) -> None:
        executor = operator.check()
        assert operator.run(executor) == 0
        assert operator.run(executor) == 561000
        assert "phase 2 consumed it" in npu.message()
        assert lib.aclDestroyAclOpExecutor(executor) == 561000
        npu.call("aclrtSynchronizeStream", NULL)

    def test_phase_1_alone(self, operator: Any) -> None:
        executor = operator.check()
        npu.call("aclDestroyAclOpExecutor", executor)
        assert operator.run(executor) == 561000

    def test_no_executor(self, operator: Any) -> None:
        assert operator.run(NULL) == 161001
        assert lib.aclDestroyAclOpExecutor(NULL) == 561103
        assert lib.aclSetAclOpExecutorRepeatable(NULL) == 561103

    def test_a_tensor_that_was_destroyed_before_phase_1(self, operator: Any) -> None:
        size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
        gone = operator.tensors[0]
        npu.call("aclDestroyTensor", gone)
        if isinstance(operator, Composite):
            assert operator.check(size, executor) == 161002
        else:
            function = lib.aclnnRmsNormGradGetWorkspaceSize
            assert function(*operator.tensors, size, executor) == 161002
        operator.tensors.pop(0)
        assert " is no live aclTensor" in npu.message()

    def test_a_tensor_that_was_destroyed_between_the_phases(self, operator: Any) -> None:
        executor = operator.check()
        npu.call("aclDestroyTensor", operator.tensors.pop())
        assert operator.run(executor) == 561000
        assert "between the two phases" in npu.message()

    def test_tensors_may_go_once_phase_2_has_returned(self, operator: Any) -> None:
        assert operator.run(operator.check()) == 0
        while operator.tensors:
            npu.call("aclDestroyTensor", operator.tensors.pop())
        npu.call("aclrtSynchronizeStream", NULL)
        assert operator.dx == ZEROS

    def test_the_wrong_stream(self, operator: Any) -> None:
        executor = operator.check()
        assert operator.run(executor, ffi.cast("void *", 0x77)) == 361001
        assert lib.aclrtGetLastError(0) == 107017
        assert operator.run(executor) == 561000, "a failing phase 2 consumes it as well"

    def test_without_a_context(self, operator: Any) -> None:
        def body() -> tuple[int, int]:
            size, made = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
            if isinstance(operator, Composite):
                return operator.check(size, made), lib.aclrtGetLastError(0)
            function = lib.aclnnRmsNormGradGetWorkspaceSize
            return function(*operator.tensors, size, made), lib.aclrtGetLastError(0)

        assert npu.in_thread(body) == (361001, 107002)

    def test_repeatable(self, operator: Any) -> None:
        executor = operator.check()
        npu.call("aclSetAclOpExecutorRepeatable", executor)
        for _ in range(3):
            npu.write(operator.memory[-1 if isinstance(operator, Composite) else 4], ONES)
            assert operator.run(executor) == 0
            npu.call("aclrtSynchronizeStream", NULL)
            assert operator.dx == ZEROS
        npu.call("aclDestroyAclOpExecutor", executor)
        assert operator.run(executor) == 561000
        assert lib.aclDestroyAclOpExecutor(executor) == 561000


@pytest.mark.parametrize("which", ["size", "executor"])
def test_null_pointers_of_phase_1(
    problem: npu.RmsNormGrad, composite: Composite, which: str
) -> None:
    size = NULL if which == "size" else ffi.new("uint64_t *")
    executor = NULL if which == "executor" else ffi.new("aclOpExecutor **")
    function = lib.aclnnRmsNormGradGetWorkspaceSize
    assert function(*problem.tensors, size, executor) == 161001
    assert composite.check(size, executor) == 161001


class TestWorkspace:
    def test_none_for_an_individual_operator_leaves_the_executor(
        self, problem: npu.RmsNormGrad
    ) -> None:
        executor = problem.check()
        assert lib.aclnnRmsNormGrad(NULL, problem.size, executor, NULL) == 161001
        assert problem.run(executor) == 0

    def test_none_for_a_composite_operator_consumes_it(self, composite: Composite) -> None:
        executor = composite.check()
        assert lib.aclnnLayerNormBackward(NULL, 8, executor, NULL) == 161001
        assert composite.run(executor) == 561000

    def test_too_small_is_seen_by_an_individual_operator(self, problem: npu.RmsNormGrad) -> None:
        executor = problem.check()
        function = lib.aclnnRmsNormGrad
        assert function(problem.workspace, problem.size - 1, executor, NULL) == 161002
        assert function(NULL, 0, problem.check(), NULL) == 161002
        assert problem.run(executor) == 561000

    def test_too_small_is_not_seen_by_a_composite_one(self, composite: Composite) -> None:
        executor = composite.check()
        assert lib.aclnnLayerNormBackward(composite.workspace, 0, executor, NULL) == 0
        npu.call("aclrtSynchronizeStream", NULL)


class TestAddresses:
    """New addresses for a repeatable executor; dx moves to another place and comes back."""

    def test_composite_operators_change_the_tensor_and_ignore_the_index(
        self, composite: Composite
    ) -> None:
        executor, elsewhere = composite.check(), npu.device_memory(composite.bytes)
        npu.call("aclSetAclOpExecutorRepeatable", executor)
        dx = composite.tensors[5]
        npu.call("aclSetOutputTensorAddr", executor, 99, dx, elsewhere)
        address = ffi.new("void **")
        npu.call("aclGetRawTensorAddr", dx, address)
        assert address[0] == elsewhere
        before = composite.dx
        assert composite.run(executor) == 0
        npu.call("aclrtSynchronizeStream", NULL)
        assert (npu.read(elsewhere, 64), composite.dx) == (ZEROS, before)
        npu.call("aclDestroyAclOpExecutor", executor)
        npu.call("aclrtFree", elsewhere)

    @pytest.mark.parametrize(
        ("function", "index", "code"),
        [
            ("aclSetOutputTensorAddr", 0, 0),
            ("aclSetOutputTensorAddr", 2, 161002),
            ("aclSetInputTensorAddr", 3, 0),
            ("aclSetInputTensorAddr", 4, 161002),
            ("aclSetTensorAddr", 4, 0),
            ("aclSetTensorAddr", 6, 161002),
            ("AclSetTensorAddr", 5, 0),
            ("AclSetInputTensorAddr", 4, 161002),
        ],
    )
    def test_individual_operators_count_tensors(
        self, problem: npu.RmsNormGrad, function: str, index: int, code: int
    ) -> None:
        executor = problem.check()
        npu.call("aclSetAclOpExecutorRepeatable", executor)
        any_tensor = problem.tensors[0]
        assert getattr(lib, function)(executor, index, any_tensor, problem.memory[0]) == code
        npu.call("aclDestroyAclOpExecutor", executor)

    @pytest.mark.parametrize(("function", "index"), [("Output", 0), ("", 4)])
    def test_individual_operators_write_to_the_new_place(
        self, problem: npu.RmsNormGrad, function: str, index: int
    ) -> None:
        executor, elsewhere, before = problem.check(), npu.device_memory(problem.bytes), problem.dx
        npu.call("aclSetAclOpExecutorRepeatable", executor)
        npu.call(f"aclSet{function}TensorAddr", executor, index, problem.tensors[4], elsewhere)
        assert problem.run(executor) == 0
        npu.call("aclrtSynchronizeStream", NULL)
        assert (npu.read(elsewhere, 64), problem.dx) == (ZEROS, before)
        npu.call("aclDestroyAclOpExecutor", executor)
        npu.call("aclrtFree", elsewhere)

    def test_null(self, problem: npu.RmsNormGrad) -> None:
        executor, size = problem.check(), ffi.new("uint64_t *")
        for function in ("aclSetInputTensorAddr", "aclSetOutputTensorAddr", "aclSetTensorAddr"):
            assert getattr(lib, function)(NULL, 0, problem.tensors[0], NULL) == 561103
            assert getattr(lib, function)(executor, 0, NULL, NULL) == 561103
        empty = lib.aclCreateTensorList(NULL, 0)
        for side in ("Input", "Output", ""):
            dynamic = getattr(lib, f"aclSetDynamic{side}TensorAddr")
            assert dynamic(NULL, 0, 0, empty, NULL) == 561103
            assert dynamic(executor, 0, 0, NULL, NULL) == 561103
            assert dynamic(executor, 0, 0, empty, NULL) == 161002
        npu.call("aclGetTensorListSize", empty, size)
        npu.call("aclDestroyTensorList", empty)
        npu.call("aclDestroyAclOpExecutor", executor)


class TestCache:
    """A second phase 1 with the same arguments, after phase 2 of the first one."""

    def test_not_repeatable_and_deaf_to_addresses(self) -> None:
        def body() -> list[int]:
            npu.call("aclrtSetDevice", 1)
            problem = npu.RmsNormGrad(rows=3)
            first = problem.check()
            unfinished = problem.check()
            answers = [lib.aclSetAclOpExecutorRepeatable(unfinished)]
            npu.call("aclDestroyAclOpExecutor", unfinished)
            assert problem.run(first) == 0
            npu.call("aclrtSynchronizeStream", NULL)
            npu.write(problem.memory[4], ONES)
            hit = problem.check()
            elsewhere = npu.device_memory(64)
            answers += [
                lib.aclSetAclOpExecutorRepeatable(hit),
                lib.aclSetOutputTensorAddr(hit, 0, problem.tensors[4], elsewhere),
                lib.aclSetOutputTensorAddr(hit, 99, problem.tensors[4], elsewhere),
            ]
            npu.call("aclSetRawTensorAddr", problem.tensors[4], elsewhere)
            assert problem.run(hit) == 0
            npu.call("aclrtSynchronizeStream", NULL)
            assert problem.dx == ZEROS, "the address is that of phase 1"
            problem.close()
            npu.call("aclrtFree", elsewhere)
            npu.call("aclrtResetDevice", 1)
            return answers

        assert npu.in_thread(body) == [0, 561000, 0, 0]

    def test_every_thread_has_its_own(self, problem: npu.RmsNormGrad, context: Any) -> None:
        problem.launch()

        def body() -> int:
            npu.call("aclrtSetCurrentContext", context)
            executor = problem.check()
            code: int = lib.aclSetAclOpExecutorRepeatable(executor)
            npu.call("aclDestroyAclOpExecutor", executor)
            return code

        assert body() == 561000
        assert npu.in_thread(body) == 0

    def test_deterministic_computing_is_part_of_the_key(self, problem: npu.RmsNormGrad) -> None:
        problem.launch()
        npu.call("aclrtCtxSetSysParamOpt", lib.ACL_OPT_DETERMINISTIC, 1)
        executor = problem.check()
        npu.call("aclSetAclOpExecutorRepeatable", executor)
        npu.call("aclDestroyAclOpExecutor", executor)

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        ("environment", "code"),
        [
            ({}, 561000),
            ({"DISABLE_L2_CACHE": ""}, 0),
            ({"DISABLE_L2_CACHE": "0"}, 0),
            ({"ACLNN_CACHE_LIMIT": "0"}, 0),
            ({"ACLNN_CACHE_LIMIT": "1"}, 561000),
        ],
    )
    def test_environment(self, programs: Programs, environment: dict[str, str], code: int) -> None:
        result = programs.python(
            "call('aclrtSetDevice', 0); problem = RmsNormGrad(); problem.launch()\n"
            "executor = problem.check(); print(lib.aclSetAclOpExecutorRepeatable(executor))\n"
            "other = RmsNormGrad(rows=5); other.launch(); executor = other.check()\n"
            "print(lib.aclSetAclOpExecutorRepeatable(executor))",
            **environment,
        )
        one_entry = environment.get("ACLNN_CACHE_LIMIT") == "1"
        assert result.stdout.split() == [str(code), "0" if one_entry else str(code)], result.stderr
