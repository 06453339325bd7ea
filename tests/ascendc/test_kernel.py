# SPDX-License-Identifier: Apache-2.0
"""From a source file to a kernel to results: what is found, built, kept, passed and refused."""

from __future__ import annotations

import contextlib
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc.entries import declare_cores, find_entries
from pyaclnn.ascendc.kernel import tiling_bytes
from pyaclnn.ascendc.tiling import LayerNormTiling

from .conftest import HEAD, KERNELS, PLAIN, write

if TYPE_CHECKING:
    from .conftest import Build

# ---- a kernel out of elementary calls -----------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("sanitize", [False, True])
def test_a_kernel_out_of_elementary_calls(sanitize: bool, build: Build) -> None:
    kernel = build("layer_norm_by_hand.cpp", "layer_norm_by_hand", sanitize=sanitize)
    rng = np.random.default_rng(0)
    x = rng.normal(3, 2, (12, 96)).astype(np.float16)
    gamma, beta = rng.normal(size=(2, 96)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.launch(4, x, gamma, beta, y, tiling=struct.pack("<IIf", 3, 96, 1e-5))
    exact = x.astype(np.float64)
    centred = exact - exact.mean(-1, keepdims=True)
    expected = centred / np.sqrt(exact.var(-1, keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(y, expected, rtol=2**-11, atol=1e-6)


# ---- finding kernels ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void f(GM_ADDR x) {}", {}),
        ("__global__ __aicore__ void f(GM_ADDR x) {}", {"f": ["x"]}),
        ("__aicore__ __global__ void f(__gm__ half* x,const uint32_t n)\n{", {"f": ["x", "n"]}),
        ('extern "C" {\n__global__ __aicore__ void f(\n GM_ADDR x // y,\n) {}}', {"f": ["x"]}),
        ("__global__ __aicore__ void f(GM_ADDR x);", {}),
        ("// __global__ __aicore__ void f(GM_ADDR x) {}", {}),
        ('auto s = R"(__global__ __aicore__ void f(GM_ADDR x) {})";', {}),
        ('auto s = "__global__ __aicore__ void f() {";', {}),
        ("__global__ __aicore__ void f(void) {}", {"f": []}),
        ("__global__ __aicore__ void f(GM_ADDR, float) {}", {"f": ["argument0", "argument1"]}),
        ("auto n = 1'000; __global__ __aicore__ void f(int b) {} auto c = '\"';", {"f": ["b"]}),
    ],
)
def test_the_kernels_of_a_source(source: str, expected: dict[str, list[str]]) -> None:
    found = find_entries(source)
    assert {entry.name: [p.name for p in entry.parameters] for entry in found} == expected


def test_a_parameter_that_cannot_be_passed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"parameter s of type Shape &; a launch"):
        find_entries("__global__ __aicore__ void f(Shape &s) {}")


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        ("__global__ __aicore__ void f(GM_ADDR x) {}", ""),
        ("__global__ __cube__ void f(GM_ADDR x) {}", "KERNEL_TYPE_AIC_ONLY"),
        ("__vector__ __global__ void f(GM_ADDR x)\n{\n}", "KERNEL_TYPE_AIV_ONLY"),
        ("__global__ __mix__(1, 2) void f(GM_ADDR x) {}", "KERNEL_TYPE_MIX_AIC_1_2"),
        ("// __global__ __cube__ void f(GM_ADDR x) {}", ""),
    ],
)
def test_words_before_a_kernel_declare_its_cores(source: str, declared: str) -> None:
    macro = f" KERNEL_TASK_TYPE_DEFAULT({declared});" if declared else ""
    assert declare_cores(source) == source.replace("{", "{" + macro)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("__global__ __mix__(2, 1) void f() {}", r"f has __mix__\(2,1\); it must be one of"),
        ("\nvoid f() { __ubuf__ float row[64]; }", "line 2: an array of threads"),
    ],
)
def test_what_no_core_has_is_refused(source: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        declare_cores(source)


def test_several_kernels_need_a_name(cache_dir: Path) -> None:
    with pytest.raises(ValueError, match="name must be one of double_free, "):
        ascendc.compile(KERNELS / "faults.cpp", cache_dir=cache_dir)
    with pytest.raises(ValueError, match=r"name is 'other'; .* has layer_norm_by_hand"):
        ascendc.compile(KERNELS / "layer_norm_by_hand.cpp", name="other", cache_dir=cache_dir)


# ---- the compiler -------------------------------------------------------------------------------


def test_a_compiler_error_shows_the_kernels_own_line(tmp_path: Path) -> None:
    source = write(tmp_path, PLAIN)
    with pytest.raises(ascendc.CompileError, match="VALUE") as raised:
        ascendc.compile(source, cache_dir=tmp_path)
    diagnostic = raised.value.diagnostics[0]
    assert (diagnostic.file, diagnostic.line) == (str(source), 2)
    assert "x[0] = VALUE;" in str(raised.value)
    assert "error:" in raised.value.output


ONE = 'extern "C" __global__ __aicore__ void one(GM_ADDR x) { x[0] = 1; }\n'


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{HEAD}#if 0\n{ONE}#endif\n", 3),
        (f"\n{HEAD}#if 0\n{ONE}#endif\n", 4),
        (f"{HEAD.strip()} {ONE}", 1),
        (f"{HEAD}namespace inner {{\n{ONE[len('extern _C_ ') :]}}}\n", 3),
    ],
    ids=["if 0", "empty line first", "no newline", "namespace"],
)
def test_a_kernel_that_preprocessing_leaves_out_is_named(
    text: str, line: int, tmp_path: Path
) -> None:
    source = write(tmp_path, text)
    with pytest.raises(ascendc.CompileError, match="the kernel one was found by reading") as raised:
        ascendc.compile(source, cache_dir=tmp_path)
    assert "after preprocessing it is not declared" in str(raised.value)
    assert [(d.file, d.line) for d in raised.value.diagnostics] == [(str(source), line)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (ONE, {}, r"__global__"),  # what follows from a missing #include is left out
        (HEAD + ONE, {"tiling_data": {"n": "Nope"}}, "cpp: tiling_data: .*Nope"),
        (f"{HEAD}void other();\n{ONE.replace('x[0] = 1', 'other()')}", {}, "undefined reference"),
        (f"{HEAD}{ONE}int main() {{}}\n", {}, "main"),
    ],
    ids=["no include", "tiling data", "linker", "main"],
)
def test_no_error_shows_the_program_around_the_kernel(
    text: str, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ascendc.CompileError, match=words) as raised:
        ascendc.compile(write(tmp_path, text), cache_dir=tmp_path / "cache", **options)
    assert "launch.cpp" not in f"{raised.value}{raised.value.output}"
    assert str(tmp_path / "cache") not in str(raised.value)


@pytest.mark.exhaustive
def test_an_error_inside_of_a_template_is_brought_to_the_line_that_used_it(tmp_path: Path) -> None:
    text = "struct S { ~S() {} int n; };\n"
    text += 'extern "C" __global__ __aicore__ void f(GM_ADDR tiling)\n{\n    S s;\n'
    source = write(tmp_path, f"{HEAD}{text}    CopyTiling(&s, tiling);\n}}\n")
    with pytest.raises(ascendc.CompileError, match="tiling data are plain data") as raised:
        ascendc.compile(source, cache_dir=tmp_path)
    assert {(d.file, d.line) for d in raised.value.diagnostics} == {(str(source), 6)}


@pytest.mark.exhaustive
def test_tiling_data_without_a_structure_get_advice(tmp_path: Path) -> None:
    text = 'extern "C" __global__ __aicore__ void f(GM_ADDR t) { GET_TILING_DATA(data, t); }\n'
    source = write(tmp_path, HEAD + text)
    with pytest.raises(ascendc.CompileError, match="REGISTER_TILING_DEFAULT"):
        ascendc.compile(source, cache_dir=tmp_path)
    ascendc.compile(source, tiling_data={"n": "uint32_t"}, cache_dir=tmp_path)


def test_a_file_without_a_kernel_says_what_a_kernel_is(tmp_path: Path) -> None:
    with pytest.raises(ascendc.CompileError, match="__global__ __aicore__ void name"):
        ascendc.compile(write(tmp_path, HEAD), cache_dir=tmp_path)


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -v")
    with pytest.raises(ascendc.CompileError, match="no C\\+\\+ compiler 'no-such-compiler'"):
        ascendc.compile(write(tmp_path, PLAIN), cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"soc": "Ascend1"}, "chip 'Ascend1' is unknown"),
        ({"tiling_data": {"a b": "int"}}, "tiling_data has the field 'a b'"),
        ({"tiling_data": {"a": "int; int"}}, "of type 'int; int'"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        ascendc.compile(write(tmp_path, PLAIN), cache_dir=tmp_path, **arguments)


@pytest.mark.exhaustive
def test_macros_reach_the_kernel(tmp_path: Path) -> None:
    kernel = ascendc.compile(write(tmp_path, PLAIN), defines={"VALUE": 7}, cache_dir=tmp_path)
    x = np.zeros(1, np.uint8)
    kernel.launch(1, x)
    assert x[0] == 7


# ---- the kernel's process ----


ENDLESS = (
    'extern "C" __global__ __aicore__ void endless(GM_ADDR x) '
    "{ volatile int i = 0; x[0] = 1; for (;;) i = i + 1; }\n"
)
LAUNCH = """
import signal, sys
import numpy as np
from pathlib import Path
from pyaclnn import ascendc

# A shell's background jobs, and what they start, are born ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
kernel = ascendc.compile(sys.argv[1], cache_dir=sys.argv[2])
print(kernel.program, flush=True)
kernel.launch(1, np.zeros(8, np.uint8))
"""


def running(program: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended by now, or is nobody's business
            if (process / "exe").readlink() == Path(program):
                found.append(process.name)
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_kernel_without_an_end_ends_with_its_parent(
    tmp_path: Path, number: signal.Signals
) -> None:
    source = write(tmp_path, HEAD + ENDLESS)
    command = [sys.executable, "-c", LAUNCH, str(source), str(tmp_path / "cache")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        program = parent.stdout.readline().strip()
        try:
            while not running(program):
                assert parent.poll() is None
                time.sleep(0.02)
            parent.send_signal(number)
            parent.wait(300)
        finally:
            parent.kill()  # or leaving would wait for as long as a launch may take
    deadline = time.monotonic() + 300
    while running(program) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(program) == []


# ---- arguments of a launch ----------------------------------------------------------------------


def test_tiling_becomes_bytes() -> None:
    structure = LayerNormTiling(bLength=2)
    assert tiling_bytes(structure) == structure.to_bytes()
    assert tiling_bytes([structure, np.float32(1)]) == structure.to_bytes() + b"\0\0\x80?"
    assert tiling_bytes(bytearray(b"ab")) == b"ab"
    assert tiling_bytes(np.arange(2, dtype=np.uint16)) == b"\0\0\1\0"
    for wrong in (3, "text"):
        with pytest.raises(TypeError, match="it must be bytes, an object with to_bytes"):
            tiling_bytes(wrong)  # type: ignore[arg-type]  # that is the point


def by_hand(build: Build) -> tuple[ascendc.Kernel, list[Any], bytes]:
    kernel = build("layer_norm_by_hand.cpp", "layer_norm_by_hand")
    x, weights = np.ones((1, 32), np.float16), np.ones(32, np.float32)
    return kernel, [x, weights, weights, np.zeros_like(x)], struct.pack("<IIf", 1, 32, 1e-5)


def test_wrong_launches_are_refused(build: Build) -> None:
    kernel, arrays, tiling = by_hand(build)
    with pytest.raises(TypeError, match="with 3 arguments; it takes 4: x, gamma, beta, y"):
        kernel.launch(1, *arrays[:3], tiling=tiling)
    others: list[tuple[Any, str]]
    others = [({}, "x is dict"), ([1], r"x\[0\] is int"), ("a", "x is str")]
    for wrong, name in others:
        with pytest.raises(TypeError, match=f"{name}; it must be a NumPy array"):
            kernel.launch(1, wrong, *arrays[1:], tiling=tiling)
    with pytest.raises(ValueError, match="y is not C-contiguous"):
        kernel.launch(1, *arrays[:3], np.zeros((32, 1), np.float16)[::2], tiling=tiling)
    with pytest.raises(ValueError, match="block_dim is 0"):
        kernel.launch(0, *arrays, tiling=tiling)
    with pytest.raises(ValueError, match="beta and gamma overlap"):
        kernel.launch(1, arrays[0], arrays[1], arrays[1][1:], arrays[3], tiling=tiling)
    arrays[3].flags.writeable = False
    with pytest.raises(ValueError, match="y is a read-only array and the kernel wrote to it"):
        kernel.launch(1, *arrays, tiling=tiling)


def test_a_launch_without_tiling_is_stopped_where_the_kernel_reads_it(build: Build) -> None:
    kernel, arrays, tiling = by_hand(build)
    with pytest.raises(ascendc.KernelFault, match="the launch gave it none") as raised:
        kernel.launch(1, *arrays)
    assert (raised.value.rule, raised.value.api) == ("tiling", "GET_TILING_DATA")
    with pytest.raises(ascendc.KernelFault, match="has 12 bytes; the launch gave 8"):
        kernel.launch(1, *arrays, tiling=tiling[:8])


def test_one_array_may_be_two_arguments(build: Build) -> None:
    kernel, (x, weights, _, _), tiling = by_hand(build)
    kernel.launch(1, x, weights, weights, x, tiling=tiling)
    np.testing.assert_array_equal(x, np.ones_like(x), err_msg="0 * 1 + 1, in place")


def test_a_kernel_says_what_it_is(build: Build) -> None:
    kernel = by_hand(build)[0]
    assert kernel.parameters == ("x", "gamma", "beta", "y", "workspace", "tiling")
    assert repr(kernel) == (
        "<Kernel layer_norm_by_hand(x, gamma, beta, y, workspace, tiling) for Ascend910B3>"
    )
