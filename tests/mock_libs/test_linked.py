# SPDX-License-Identifier: Apache-2.0
"""Linked functions beyond runtime and operators: they exist, and refuse by name.

Which symbols: those that torch-npu 2.1 to 2.14, numpy-ascend 14 and onnxruntime-cann 1.24 link,
read from their wheels, and some for offline models.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.elf import read_library
from pyaclnn.cann.simulator import simulator
from pyaclnn.facts.interface import functions, interface
from pyaclnn.facts.releases import DEFAULT
from pyaclnn.mock import ldflags, libdir

if TYPE_CHECKING:
    from .programs import Programs

_MODELS = "aclmdlExecute aclmdlLoadFromFile aclmdlLoadFromMem"
_TASKS = """
MsprofGetHashId MsprofRegisterCallback MsprofReportAdditionalInfo MsprofReportApi
MsprofReportCompactInfo MsprofSysCycleTime
rtDevBinaryRegister rtFunctionRegister rtGetC2cCtrlAddr rtKernelLaunch
"""
_COLLECTIVES = "HcclCommResume"
# Symbols of graph operators, which torch-npu 2.3 to 2.6.0 describe, ONNX Runtime's
# graphs, and the transfers of mooncake, which load and are refused.
_GE = """
_ZN2ge12AscendStringC1EPKc _ZN2ge8Operator12AttrRegisterEPKcb _ZN2ge8Operator12AttrRegisterEPKcl
_ZN2ge8Operator13InputRegisterEPKc _ZN2ge8Operator14OutputRegisterEPKc
_ZN2ge8Operator20DynamicInputRegisterEPKcjb _ZN2ge8Operator20RequiredAttrRegisterEPKc
_ZN2ge8Operator27DynamicInputRegisterByIndexEPKcjm _ZN2ge8OperatorC2EPKcS2_
_ZN2ge8OperatorC2ERKNS_12AscendStringES3_
_ZN2ge5GraphC1EPKc _ZNK2ge12AscendStringltERKS0_ _ZN2ge16aclgrphSaveModelEPKcRKNS_15ModelBufferDataE
_ZN2ge17aclgrphBuildModelERKNS_5GraphERKSt3mapINS_12AscendStringES4_St4lessIS4_ESaISt4pairIKS4_S4_EEERNS_15ModelBufferDataE
_ZN2ge20aclgrphBuildFinalizeEv
_ZN2ge22aclgrphBuildInitializeERSt3mapINS_12AscendStringES1_St4lessIS1_ESaISt4pairIKS1_S1_EEE
_ZN2ge23aclgrphParseONNXFromMemEPKcmRKSt3mapINS_12AscendStringES3_St4lessIS3_ESaISt4pairIKS3_S3_EEERNS_5GraphE
_ZN4adxl10AdxlEngine10DisconnectERKN2ge12AscendStringEi
_ZN4adxl10AdxlEngine10InitializeERKN2ge12AscendStringERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE
_ZN4adxl10AdxlEngine11RegisterMemERKNS_7MemDescENS_7MemTypeERPv
_ZN4adxl10AdxlEngine12TransferSyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EEi
_ZN4adxl10AdxlEngine13DeregisterMemEPv _ZN4adxl10AdxlEngine7ConnectERKN2ge12AscendStringEi
_ZN4adxl10AdxlEngine8FinalizeEv _ZN4adxl10AdxlEngineC1Ev _ZN4adxl10AdxlEngineD1Ev
"""
REGISTERING = (
    "_ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE"
)
REFUSING = {
    "ascendcl": _MODELS.split(),
    "runtime": _TASKS.split(),
    "graph": _GE.split(),
    "hccl": _COLLECTIVES.split(),
}
# Headers of the table of the C interface whose functions a library has as well.
LISTED = {
    "runtime": ("runtime/rt.h", "profiling/aprof_pub.h"),
    "acl_tdt_channel": ("acl/acl_tdt.h",),
}
BRINGING = {
    "acl_op_compiler": "libascendcl.so",
    "acl_tdt_channel": "libascendcl.so",
    "ge_runner": "libruntime.so",
    "graph": "libruntime.so",
    "op_common": "libnnopbase.so",
}
# Alternatives that some refusals name.
INSTEAD = {
    **dict.fromkeys(REFUSING["ascendcl"], "Call the operators of the model"),
}
# Results of the others: nothing, or an undefined dtype or format.
ANSWERS = {
    **dict.fromkeys(REFUSING["graph"]),
    **dict.fromkeys(("MsprofGetHashId", "MsprofSysCycleTime"), 0),
}
_CALL = """
import ctypes, json, sys
from pyaclnn.mock import calls, set_faults
libraries = {{name: ctypes.CDLL(f'{folder}/lib{{name}}.so') for name in {names!r}}}
message = libraries['ascendcl'].aclGetRecentErrMsg
message.restype = ctypes.c_char_p
set_faults({faults!r})
answers = {{}}
for library, names in {functions!r}.items():
    for name in names:
        function = getattr(libraries[library], name)
        # More zeros than any of them has parameters.
        answer = function(*[ctypes.c_void_p(0)] * 12)
        answers[name] = [answer, (message() or b'').decode(), calls()[name]]
print(json.dumps(answers))
"""


def answers(programs: Programs, faults: str) -> dict[str, tuple[int, str, int]]:
    done = programs.python(
        _CALL.format(folder=libdir(), names=list(REFUSING), functions=REFUSING, faults=faults)
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str, int]] = json.loads(done.stdout)
    assert sum(map(len, REFUSING.values())) == len(found)
    return found


def expected(name: str, code: int, answer: int) -> bool:
    """Return whether a function returned a status, or its equivalent."""
    other = ANSWERS.get(name, code)
    return other is None or answer == other


def test_every_function_refuses_by_its_name(programs: Programs) -> None:
    for name, (answer, text, _) in answers(programs, "").items():
        assert f"{name} is declared by CANN but not implemented by the simulated NPU" in text
        assert expected(name, 999001, answer), name
        assert INSTEAD.get(name, "") in text


def test_every_function_is_counted_and_can_be_made_to_fail(programs: Programs) -> None:
    # The function that returns the text fails as well.
    for name, (answer, _, count) in answers(programs, "*=507899").items():
        assert count == 1, name
        assert expected(name, 507899, answer), name


CHAINED = """
import ctypes
graph = ctypes.CDLL("{}/libgraph.so")
for name in "_ZN3ops5OpDef5InputEPKc", "_ZN3ops5OpDef6AICoreEv":
    function = graph[name]
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
    assert function(0x123456789A, b"x") == 0x123456789A, name
assert graph["_ZN8optiling23CTilingDataClassFactory11GetInstanceEv"](5) == 0
"""


def test_a_description_of_a_custom_operator_is_a_chain_of_calls(programs: Programs) -> None:
    done = programs.python(CHAINED.format(libdir().parent / "9.1"))
    assert done.returncode == 0, done.stderr


def _tool(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("library", ["runtime", *BRINGING])
def test_a_library_exports_that_and_nothing_else(library: str) -> None:
    symbols = _tool("nm", "-D", "--defined-only", str(libdir() / f"lib{library}.so"))
    names = {line.split()[-1] for line in symbols.splitlines()}
    listed = {
        name
        for name, row in functions().items()
        if row.header in LISTED.get(library, ()) and row.since == DEFAULT
    }
    registering = {REGISTERING} if library == "graph" else set()
    assert names == {*REFUSING.get(library, ()), *registering, *listed}


@pytest.mark.exhaustive
def test_an_operator_of_graphs_is_registered_when_its_library_is_loaded(programs: Programs) -> None:
    program = programs.build("describing.cpp", link=[*ldflags(), "-lgraph", "-lstdc++"])
    done = programs.run([program])
    assert (done.returncode, done.stderr) == (0, "")
    # A library that describes a type itself gets an empty object.
    assert "_ZN2ge8OperatorC2EPKcS2_ is declared by CANN but not implemented" in done.stdout


@pytest.mark.parametrize(("library", "needed"), BRINGING.items())
def test_a_library_without_functions_brings_another_along(library: str, needed: str) -> None:
    listed = _tool("readelf", "-d", str(libdir() / f"lib{library}.so"))
    assert f"Shared library: [{needed}]" in listed
    assert f"Library soname: [lib{library}.so]" in listed


_OPTIONS = """
import ctypes
ctypes.CDLL('{folder}/libascendcl.so', mode=ctypes.RTLD_GLOBAL)
# Found through what the library needs.
library = ctypes.CDLL('{folder}/libacl_op_compiler.so')
text = ctypes.create_string_buffer(8)
get, size, put = library.aclGetCompileopt, library.aclGetCompileoptSize, library.aclSetCompileopt
get.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
assert get(10, text, 8) == 0 and text.value.decode() == {compiled!r}, text.value
assert [size(0), get(0, text, 8), put(0, None), put(-1, b''), put(99, b'')] == [0] + 4 * [100000]
assert put(0, b'must') == 0 and size(0) == 5 and get(0, text, 4) == 100000
assert get(0, text, 5) == 0 and text.value == b'must'
assert [library.aclopSetCompileFlag(flag) for flag in (0, 1, 2)] == [0, 0, 100000]
assert put(10, b'x') == 0 and size(10) == 2 and get(0, None, 5) == 100000
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("chip", "compiled"),
    [("Ascend910B3", "disable"), ("Ascend950PR_9579", "disable"), ("Ascend910A", "enable")],
)
def test_options_of_the_compiler_are_kept(
    chip: str, compiled: str, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = "9.1" if chip.startswith("Ascend950") else "8.1"
    monkeypatch.setenv("PYACLNN_MOCK_CANN", release)
    code = _OPTIONS.format(folder=libdir(), compiled=compiled)
    done = programs.python(code, PYACLNN_MOCK_SOC=chip, PYACLNN_MOCK_CANN=release)
    assert done.returncode == 0, done.stderr


def test_what_leads_to_the_simulated_npu_has_no_name_of_cann_s() -> None:
    assert [n for n in read_library(simulator()).exports if not n.startswith("mock_")] == []


def test_the_profiler_of_kernels_refuses(programs: Programs) -> None:
    done = programs.python(
        f"import ctypes; print(ctypes.CDLL('{libdir()}/libmspti.so').msptiSubscribe(0, 0, 0))"
    )
    assert done.stdout == "999001\n", done.stderr


_MARKS = """
import ctypes
marks = ctypes.CDLL("{}/libms_tools_ext.so")
tool = ctypes.c_uint64(7)
marks.mstxGetToolId(ctypes.byref(tool))
print(marks.mstxRangeStartA(b"step", None), marks.mstxDomainCreateA(b"mine"), tool.value)
"""


def test_marks_for_tools_are_exported_and_do_nothing(programs: Programs) -> None:
    inline = {row.name for row in interface() if row.text.startswith("static inline")}
    assert set(read_library(libdir() / "libms_tools_ext.so").exports) == inline
    done = programs.python(_MARKS.format(libdir()))
    assert done.stdout == "0 0 0\n", done.stderr
