# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn tiling``: what it prints, where, and how it exits."""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st
from rich.console import Console

from pyaclnn.ascendc import tiling as package
from pyaclnn.ascendc.tiling import TilingError
from pyaclnn.ascendc.tiling.picture import as_json, as_picture
from pyaclnn.ascendc.tiling.plan import make_plan
from pyaclnn.ascendc.tiling.request import TilingRequest
from pyaclnn.cli import add_to

from .calls import A2, A5, INTERFACES, requests

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]

GRAD = ("layernorm-grad", "--shape", "2,32,16", "--stack", "8192")
TRAP = ("layernorm-grad", "--shape", "1,1,8")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line; its exit status, standard output and standard error."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        parser = argparse.ArgumentParser(prog="pyaclnn")
        add_to(parser.add_subparsers(required=True), "tiling")
        try:
            options = parser.parse_args(["tiling", *arguments])
            status = options.action(options)
        except SystemExit as exit_:
            status = exit_.code
        return (status, *capsys.readouterr())

    return run


class TestPicture:
    def test_sizes_fields_and_buffer(self, run: Run) -> None:
        status, out, err = run(*GRAD)
        lines = out.splitlines()
        assert (status, err) == (0, "")
        assert lines[0] == f"layernorm-grad [2, 32, 16, 16] float on {A2}"
        assert lines[1].startswith("temporary buffer: max 24576 bytes, min 6144 bytes;")
        assert lines[2].strip() == "LayerNormGradTiling"
        assert "│ oneCalSize      │  384 │" in out
        assert "│ lastDimValueBackMulTwo │ 1040187392 │" in out
        assert "│ pdVarTensor     │  1536 │ 3072 │ 1536 │         ████████         " in out

    def test_what_lies_behind_the_end_is_marked(self, run: Run) -> None:
        _, out, _ = run(*GRAD)
        assert "│ x3Tensor        │  7680 │ 9216 │ 1536 │" in out
        assert "███!!!!! │" in out
        assert "! lies behind the end of the buffer." in out
        _, out, _ = run("layernorm-grad", "--shape", "2,32,16")
        assert "!" not in out

    def test_is_readable_in_80_columns_of_ascii(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(sys, "stdout", stream)
        shape = (2, 300, 160, 160)
        as_picture(make_plan(TilingRequest("layernorm-grad-beta", shape, 2, False, True, A2)))
        stream.seek(0)
        text = stream.read()
        assert "resForGammaTmpTensor" in text
        assert "###" in text
        assert "..." not in text
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        table, _, _ = plain.partition("warning:")
        assert max(map(len, table.splitlines())) <= 80

    @pytest.mark.parametrize("width", [70, 80, 100, 200])
    def test_fits_a_terminal(self, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
        stream = io.StringIO()
        monkeypatch.setattr(
            "pyaclnn.ascendc.tiling.picture.Console",
            lambda **options: Console(
                **{**options, "width": width}, file=stream, force_terminal=True, color_system=None
            ),
        )
        for interface in INTERFACES:
            shape = (5, 100) if interface == "layernorm-rstd" else (2, 32, 16, 16)
            as_picture(make_plan(TilingRequest(interface, shape, 4, False, True, A2)))
        lines = [line for line in stream.getvalue().splitlines() if line[:1] in "│┃"]
        assert lines
        assert all(len(line) <= width for line in lines)
        assert "…" not in stream.getvalue()

    def test_a_chip_that_arranges_its_buffer_itself(self, run: Run) -> None:
        status, out, _ = run("layernorm-rstd", "--shape", "16,4099", "--soc", A5)
        assert status == 0
        assert f"layernorm-rstd [16, 4099] float on {A5}" in out
        assert "rHeadLength        │           4096" in out
        assert "The kernel arranges its temporary buffer itself on this chip." in out


class TestWarnings:
    @pytest.mark.parametrize(
        ("arguments", "warning"),
        [
            (
                TRAP,
                (
                    "The documented minimum of 192 bytes is too small for the tiling it gives, "
                    "which addresses 1536 bytes: reserve 1536 bytes."
                ),
            ),
            (
                (*TRAP[:2], "1,1,16", "--dtype", "half"),
                "The documented minimum of 288 bytes is too small for any tiling: reserve 9216",
            ),
            (GRAD, "The tiling addresses 9216 bytes and runs over the end of the buffer of 8192"),
            (
                ("layernorm", "--shape", "2,32,16", "--stack", "300"),
                "The buffer of 300 bytes is smaller than the documented minimum of 704.",
            ),
            ((*GRAD, "--origin-h", "10"), "This interface supports padded rows on no chip"),
            (
                ("layernorm-grad-beta", "--shape", "2,32,16", "--origin-h", "10"),
                "This interface supports padded rows on no chip",
            ),
            ((*GRAD, "--dtype", "half", "--reuse"), "isReuseSource is not supported for half"),
            (
                ("layernorm-rstd", "--shape", "4,10", "--reuse"),
                "isReuseSource is reserved in this form of LayerNorm",
            ),
            (
                ("layernorm-rstd", "--shape", "4,10", "--no-compute-rstd"),
                "Only Ascend 950 can output the variance in place of rstd.",
            ),
            (
                ("layernorm-grad-beta", "--shape", "2,32,16", "--soc", A5),
                "On Ascend 950 this kernel leaves its temporary buffer unused.",
            ),
            (
                ("layernorm", "--shape", "64,64,512", "--dtype", "half"),
                (
                    "The temporary buffer of 25198592 bytes does not fit into the unified buffer "
                    "of Ascend910B3, which has 196608 bytes for all tensors: give the kernel at "
                    "most 184 of the 4096 rows at a time, with which the largest usable size is "
                    "8192 bytes, "
                ),
            ),
            (
                ("layernorm", "--shape", "1,64,512", "--dtype", "half"),
                (
                    "The temporary buffer of 393728 bytes does not fit into the unified buffer of "
                    "Ascend910B3, which has 196608 bytes for all tensors: the largest usable size "
                    "is 131072 bytes, "
                ),
            ),
            (
                ("layernorm-rstd", "--shape", "1,65536", "--soc", "Ascend310P3"),
                (
                    "The temporary buffer of 4718624 bytes does not fit into the unified buffer of "
                    "Ascend310P3, which has 262144 bytes for all tensors: not even one row of this "
                ),
            ),
        ],
    )
    def test_are_printed(self, run: Run, arguments: tuple[str, ...], warning: str) -> None:
        status, out, err = run(*arguments)
        assert (status, err) == (0, "")
        assert f"warning: {warning}" in out
        status, out, _ = run(*arguments, "--json")
        assert status == 0
        assert any(text.startswith(warning) for text in json.loads(out)["warnings"])

    @pytest.mark.parametrize(
        "arguments",
        [
            ("layernorm", "--shape", "2,32,16", "--origin-h", "10"),
            ("layernorm", "--shape", "2,32,16", "--reuse"),
            ("layernorm-rstd", "--shape", "4,10"),
            ("layernorm-rstd", "--shape", "4,10", "--soc", A5, "--no-compute-rstd"),
            ("layernorm-grad", "--shape", "2,32,16"),
            ("layernorm-grad", "--shape", "2,32,16", "--soc", A5),
            ("layernorm-grad", "--shape", "2,32,16", "--soc", A5, "--reuse"),
            ("layernorm-grad-beta", "--shape", "2,32,16", "--dtype", "half"),
            ("layernorm", "--shape", "1,64,512", "--dtype", "half", "--stack", "131072"),
        ],
    )
    def test_are_absent_where_all_is_well(self, run: Run, arguments: tuple[str, ...]) -> None:
        _, out, _ = run(*arguments)
        assert "warning" not in out

    @settings(deadline=None, max_examples=150)
    @given(request=requests(socs=(A2, A5)), stack=st.none() | st.integers(0, 100_000))
    def test_every_plan_can_be_shown(self, request: TilingRequest, stack: int | None) -> None:
        try:
            plan = make_plan(request, stack)
        except TilingError:
            return
        assert json.loads(as_json(plan))["addressed_bytes"] >= 0


class TestJson:
    def test_says_all(self, run: Run) -> None:
        status, out, err = run(*GRAD, "--json")
        found = json.loads(out)
        assert (status, err) == (0, "")
        expected = package.get_layer_norm_grad_nd_tiling_info((2, 32, 16, 16), 8192, 4)
        assert found["interface"] == "layernorm-grad"
        assert found["soc"] == A2
        assert found["src_shape"] == [2, 32, 16, 16]
        assert (found["type_size"], found["is_reuse_source"]) == (4, False)
        assert found["tmp_size"] == {"max": 24576, "min": 6144}
        assert found["stack_buffer_size"] == 8192
        assert found["structure"] == "LayerNormGradTiling"
        assert found["tiling"] == expected.as_dict()
        assert bytes.fromhex(found["bytes"]) == expected.to_bytes()
        assert found["buffers"][1] == {
            "name": "pdVarTensor", "start": 1536, "size": 1536, "end": 3072,
        }  # fmt: skip
        assert found["addressed_bytes"] == 9216

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (("--dtype", "half"), {"type_size": 2}),
            (("--dtype", "float16"), {"type_size": 2}),
            (("--dtype", "float32"), {"type_size": 4}),
            (("--reuse",), {"is_reuse_source": True}),
            (("--origin-h", "10"), {"src_shape": [2, 32, 16, 10]}),
            (("--soc", A5), {"soc": A5, "tmp_size": {"max": 12800, "min": 704}}),
            ((), {"stack_buffer_size": 12800}),  # the maximum, where none is given
        ],
    )
    def test_options(self, run: Run, arguments: tuple[str, ...], expected: Any) -> None:
        _, out, _ = run("layernorm", "--shape", "2x32x16", "--json", *arguments)
        assert json.loads(out).items() >= expected.items()

    def test_the_variance_in_place_of_rstd_takes_more(self, run: Run) -> None:
        arguments = ("layernorm-rstd", "--shape", "16,100", "--soc", A5, "--json")
        sizes = [
            json.loads(run(*arguments, *more)[1])["tmp_size"]["max"]
            for more in ((), ("--no-compute-rstd",))
        ]
        assert sizes == [576, 640]


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                (*TRAP, "--stack", "10"),
                "pyaclnn tiling layernorm-grad: stack_buffer_size is 10 bytes, which has no room",
            ),
            ((*TRAP, "--stack", "-1"), "stack_buffer_size is -1; it must fit into 32 bits"),
            (("layernorm", "--shape", "2,32,10"), "pad them with zeros to 16 elements"),
            (("layernorm-grad", "--shape", "2,32,17"), "H must be a multiple of 8 (float)"),
            (("layernorm", "--shape", "2,32,16", "--origin-h", "17"), "originH 17; it must be at"),
            (("layernorm", "--shape", "2,32,16", "--soc", "Ascend910A"), "soc is 'Ascend910A'"),
            (("layernorm", "--shape", "2,32"), "argument --shape: it must be B,S,H"),
            (("layernorm-rstd", "--shape", "2,32,16"), "argument --shape: it must be A,R"),
            (("layernorm", "--shape", "2,a,16"), "'2,a,16' is no shape; it must be whole numbers"),
            (("layernorm",), "the following arguments are required: --shape"),
            (("layernorm", "--shape", "2,32,16", "--dtype", "int8"), "invalid choice: 'int8'"),
            (("layernorm-rstd", "--shape", "4,10", "--origin-h", "9"), "unrecognized arguments"),
            (("nonsense",), "invalid choice: 'nonsense'"),
        ],
    )
    def test_exit_with_2_and_say_why_on_standard_error(
        self, run: Run, arguments: tuple[str, ...], message: str
    ) -> None:
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert message in err

    @pytest.mark.parametrize("interface", INTERFACES)
    def test_help(self, run: Run, interface: str) -> None:
        status, out, _ = run(interface, "--help")
        assert status == 0
        assert "usage: pyaclnn tiling" in out


def test_the_parser_loads_nothing_heavy() -> None:
    code = (
        "import sys, pyaclnn.ascendc.tiling.command;"
        "print({'rich', 'numpy', 'dataclasses'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_public_names_are_what_they_say() -> None:
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__doc__, name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = package.nonsense  # type: ignore[attr-defined]
