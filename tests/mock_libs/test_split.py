# SPDX-License-Identifier: Apache-2.0
"""Programs link the libraries of each release by its own names, and all of them are one NPU."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.elf import read_library
from pyaclnn.bindgen.front import put_in_front
from pyaclnn.cann.signatures import listed, signatures
from pyaclnn.facts.interface import functions as interface_functions
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock import cflags, ldflags, libdir
from tests.releases import NEWEST, OLDEST

from .programs import HERE

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

EXAMPLE = HERE.parents[1] / "examples" / "03_host_application.cpp"
NUMBERS = ["grad_input: -2 -94 -877.5 -1747.5", "grad_weight: 20 62", "grad_bias: 6 8"]
AREAS = ("math", "nn", "cv", "transformer")
FRONTS = ("acl_rt", "acl_mdl", "acl_op_executor", "acl_op_compiler")
# Typed from the folders of CANN's repositories: those of plain names, then those that one would
# look for elsewhere, then some that older tables of operators lack.
KNOWN = {
    "math": """
        aclnnAdd aclnnAbs aclnnCat aclnnPermute aclnnTriu
        aclnnBatchNormStats aclnnAddLora aclnnAddr aclnnAffineGrid aclnnChannelShuffle
        aclnnGlobalAveragePool aclnnGlobalMaxPool aclnnGroupedBiasAddGrad aclnnHardtanh aclnnIm2col
        aclnnInplaceAddr aclnnInplaceHardtanh aclnnKlDiv aclnnScale aclnnSinkhorn
        aclnnTransConvolutionWeight aclnnTransMatmulWeight aclnnWeightQuantPreprocess
        aclnnAngleV2 aclnnHansEncode aclnnTransformBiasRescaleQkv""",
    "nn": """
        aclnnLayerNorm aclnnRmsNormGrad aclnnAddRmsNorm aclnnMatmul aclnnGelu aclnnForeachSqrt
        aclnnBucketize aclnnChamferDistanceBackward aclnnEinsum aclnnErfinv aclnnFlip
        aclnnGroupedQuantMax aclnnHeaviside aclnnInplaceErfinv aclnnInverse aclnnKthvalue
        aclnnMaskedSoftmaxWithRelPosBias aclnnMedian aclnnMedianDim aclnnNanMedian aclnnNanMedianDim
        aclnnMultiScaleDeformableAttentionGrad aclnnMultiScaleDeformableAttnFunction aclnnNonzero
        aclnnNonzeroV2 aclnnRepeatInterleave aclnnRepeatInterleaveInt aclnnRepeatInterleaveTensor
        aclnnRepeatInterleaveIntWithDim aclnnRepeatInterleaveWithDim aclnnUnique aclnnUnique2
        aclnnUniqueConsecutive aclnnUniqueDim
        aclnnDynamicMxQuant aclnnScatterMax aclnnRepeatInterleaveGrad aclnnSleep""",
    "cv": """
        aclnnUpsampleLinear1d aclnnRoiAlign aclnnGridSampler2D aclnnIm2colBackward
        aclnnRasterizer""",
    "transformer": """
        aclnnFlashAttentionScore aclnnFFN aclnnMoeInitRouting aclnnGroupedMatmul
        aclnnFlashAttentionScoreV3 aclnnMoeGatingTopK aclnnScatterPaKvCache""",
}
# Functions of libacl_rt.so that headers of models and operators had before.
# Source: CANN: runtime src/acl/aclrt_impl.
OLDER_HEADERS = {
    *(f"aclmdl{name}Dump" for name in ("Init", "Set", "Finalize")),
    *(f"acl{name}DataBuffer" for name in ("Create", "Destroy", "Update")),
    *(f"aclGetDataBuffer{name}" for name in ("Addr", "Size", "SizeV2")),
}
PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_layer_norm.h"

int main(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0) {
        return 1;
    }
    /* NULL for a tensor; by their own texts, in the thread of the one runtime. */
    printf("%d\\n", aclnnAbsGetWorkspaceSize(NULL, NULL, &size, &executor));
    printf("%d\\n", aclnnLayerNormGetWorkspaceSize(NULL, NULL, NULL, NULL, 1e-5, NULL, NULL, NULL,
                                                  &size, &executor));
    return aclrtResetDevice(0) != 0 || aclFinalize() != 0;
}
"""


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here is of CANN 9.1."""
    monkeypatch.setenv("PYACLNN_MOCK_CANN", NEWEST)


def exports(name: str) -> set[str]:
    return set(read_library(libdir() / f"lib{name}.so").exports)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", [NEWEST, OLDEST])
def test_a_program_builds_and_runs_as_it_is(
    release: str, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_CANN", release)
    program = tmp_path / "host"
    command = ["c++", "-std=c++17", str(EXAMPLE), *cflags(), "-o", str(program), *ldflags()]
    subprocess.run(command, check=True)
    done = programs.run([program])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == NUMBERS
    needed = read_library(program).needed
    assert ("libacl_rt.so" in needed) == ("libopapi_nn.so" in needed) == (release == NEWEST)
    assert ("libascendcl.so" in needed) == ("libopapi.so" in needed) == (release == OLDEST)


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("newest")
@pytest.mark.parametrize(
    "names",
    [
        ("ascendcl", "nnopbase", "opapi"),
        ("acl_rt", "nnopbase", "opapi_math", "opapi_nn"),
        ("acl_rt", "ascendcl", "nnopbase", "opapi"),
    ],
    ids="-".join,
)
def test_older_names_and_newer_ones_link_and_mean_the_same(
    names: tuple[str, ...], programs: Programs, tmp_path: Path
) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM, encoding="utf-8")
    linked = [f"-L{libdir()}", f"-Wl,-rpath,{libdir()}", *(f"-l{name}" for name in names)]
    subprocess.run(["cc", str(source), *cflags(), "-o", str(program), *linked], check=True)
    done = programs.run([program])
    assert (done.returncode, done.stdout) == (0, "161001\n161001\n"), done.stderr


@pytest.mark.usefixtures("newest")
def test_every_operator_is_in_the_library_of_its_area_alone() -> None:
    found = {area: exports(f"opapi_{area}") for area in AREAS}
    operators = {name + end for name in catalogue() for end in ("", "GetWorkspaceSize")}
    assert sum(map(len, found.values())) == len(operators) > 1800
    assert set().union(*found.values()) == operators == exports("opapi")
    for area, names in KNOWN.items():
        assert set(names.split()) <= found[area]


@pytest.mark.usefixtures("newest")
def test_a_library_in_front_has_no_name_that_is_not_behind_it() -> None:
    behind = exports("ascendcl")
    assert {name: exports(name) - behind for name in FRONTS} == {name: set() for name in FRONTS}
    known = (*signatures().values(), *filter(None, map(listed, interface_functions())))
    functions = {s.name for s in known if s.library == "runtime"}
    assert exports("acl_rt") == {*functions, *OLDER_HEADERS, "aclAppLog"}
    assert not OLDER_HEADERS & (exports("acl_mdl") | exports("acl_op_executor"))
    assert "aclmdlCreateDataset" in exports("acl_mdl") - exports("acl_rt")


_SAME = """
import ctypes, json
from pyaclnn.mock import libdir
def at(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
opened = {}
for name in %r:
    opened[name] = ctypes.CDLL(f"{libdir()}/lib{name}.so")
behind = ctypes.CDLL(f"{libdir()}/libascendcl.so")
runtime = [at(opened[name], "aclrtMalloc") == at(behind, "aclrtMalloc") for name in %r]
whole = [at(opened["opapi"], op) == at(opened[f"opapi_{area}"], op) for area, op in %r]
print(json.dumps([runtime, whole]))
"""


@pytest.mark.usefixtures("newest")
def test_a_function_that_is_looked_up_is_the_same_in_all(programs: Programs) -> None:
    pairs = [(area, names.split()[0]) for area, names in KNOWN.items()]
    order = ("opapi", *FRONTS, *(f"opapi_{area}" for area in AREAS))
    code = _SAME % (order, FRONTS, pairs)
    done = programs.run([sys.executable, "-c", code], {"PYACLNN_MOCK_CANN": NEWEST})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[True] * len(FRONTS), [True] * len(AREAS)]


_REFUSE = """
import ctypes, json
from pyaclnn.mock import libdir
acl = ctypes.CDLL(f"{libdir()}/libascendcl.so")
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
answers = {}
for name in %r:
    answer = getattr(acl, name)(*[ctypes.c_void_p(0)] * 12)
    answers[name] = [answer, (acl.aclGetRecentErrMsg() or b"").decode()]
print(json.dumps(answers))
"""


@pytest.mark.usefixtures("newest")
def test_what_is_new_in_the_release_is_there_or_refuses_by_its_name(programs: Programs) -> None:
    newer = [s.name for s in signatures().values() if s.since == NEWEST and s.library == "runtime"]
    assert len(newer) > 100
    done = programs.run([sys.executable, "-c", _REFUSE % newer], {"PYACLNN_MOCK_CANN": NEWEST})
    assert done.returncode == 0, done.stderr
    answers: dict[str, tuple[int, str]] = json.loads(done.stdout)
    for name, (answer, text) in answers.items():
        refused = f"{name} is declared by CANN but not implemented by the simulated NPU"
        assert answer != 0, name
        assert (answer == 999001) == (refused in text), (name, text)
        assert name in text, (name, text)


_CALL = """
import json, numpy as np, pyaclnn
pyaclnn.select_backend("mock")
x, out = np.ones((2, 8), np.float32)
answers = []
for name, given in (
    ("aclnnSituGlu", (x, -1, 1.0, 1.0, True, out)),
    ("aclnnSituGluGrad", (x, x, -1, 1.0, 1.0, True, out)),
):
    try:
        pyaclnn.op(name)(*given)
    except pyaclnn.UnsupportedError as error:
        answers.append([name in str(error), "999001" in str(error)])
print(json.dumps(answers))
"""


def test_an_operator_that_only_documents_have_is_there_and_is_not_implemented(
    programs: Programs,
) -> None:
    done = programs.run([sys.executable, "-c", _CALL], {"PYACLNN_MOCK_CANN": NEWEST})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[True, True]] * 2


def test_what_is_not_needed_cannot_be_put_in_front(tmp_path: Path) -> None:
    image = bytearray((libdir() / "libnnopbase.so").read_bytes())
    with pytest.raises(ValueError, match=r"^libopapi\.so: not needed$"):
        put_in_front(image, {"libopapi.so"})
    put_in_front(image, {"libascendcl.so"})
    (tmp_path / "libnnopbase.so").write_bytes(image)
    assert "libascendcl.so" not in read_library(tmp_path / "libnnopbase.so").needed
