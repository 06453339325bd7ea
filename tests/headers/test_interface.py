# SPDX-License-Identifier: Apache-2.0
"""Headers that follow from the table of the C interface, and the layouts of their types."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pyaclnn.bindgen.reader import read
from pyaclnn.facts.interface import constants, functions, interface
from pyaclnn.facts.releases import RELEASES, has
from pyaclnn.mock import includedir

from .stub_tree import INCLUDE, LANGUAGES, LEVELS, compile_all

LISTED = sorted({row.header for row in interface()})
LAYOUTS = [
    line.split("\t")
    for line in (Path(__file__).parent / "layouts.tsv").read_text("utf-8").splitlines()
]
"""A row: the C type; the header; the release that it is of, the oldest for all; size; alignment;
members with their offsets. Sources: headers of CANN 8.1.RC1; CANN: runtime, hcomm, mstx of 9.x."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", LISTED)
def test_a_header_compiles_alone_and_twice(header: str, language: str, tmp_path: Path) -> None:
    include = f'#include "{header}"\n'
    units = [f"#define ACL_STUBS_CANN {level}\n{include}{include}" for level in LEVELS]
    compile_all(tmp_path, language, units, include=includedir())


BY_HEADER = [
    (901, "hccl/hccl_comm.h", "HcclBarrier HcclGetErrorString HcclCommConfigInit"),
    (801, "experiment/hccl/hcom.h", "HcomGetCommHandleByGroup"),
    (801, "experiment/runtime/runtime/kernel.h", "rtKernelLaunch rtFunctionRegister"),
    (801, "experiment/runtime/runtime/rt_ffts.h", "rtGetC2cCtrlAddr"),
    (801, "experiment/msprof/toolchain/prof_api.h", "MsprofReportApi"),
    (901, "pkg_inc/profiling/aprof_pub.h", "MsprofReportApi"),
    (901, "pkg_inc/runtime/rt_external_device.h", "rtGetDeviceInfo"),
    (901, "pkg_inc/runtime/runtime/stream.h", "rtStreamCreate"),
    (801, "acl/acl_mdl.h", "aclmdlRICaptureBegin aclmdlInitDump aclmdlLoadFromFile"),
    (901, "acl/acl_mdl.h", "aclmdlLoadFromFile aclmdlCreateDataset"),
    (901, "acl/acl_rt.h", "aclmdlRICaptureBegin aclmdlInitDump aclmdlSetDump aclmdlFinalizeDump"),
    (801, "acl/acl_base.h", "aclCreateDataBuffer aclCreateTensorDesc"),
    (901, "acl/acl_base_rt.h", "aclCreateDataBuffer aclDestroyDataBuffer"),
    (801, "acl/acl_rt_allocator.h", "aclrtAllocatorCreateDesc aclrtAllocatorSetAllocFuncToDesc"),
    (901, "acl/acl_rt_allocator.h", "aclrtAllocatorRegister aclrtAllocatorGetByStream"),
]
"""Release of the headers, header, and functions that programs which include nothing else call."""


@pytest.mark.parametrize(("level", "header", "names"), BY_HEADER)
def test_a_header_declares_what_programs_call_by_it(
    level: int, header: str, names: str, tmp_path: Path
) -> None:
    uses = "".join(f"const void *of_{name} = (const void *){name};\n" for name in names.split())
    unit = f'#define ACL_STUBS_CANN {level}\n#include "{header}"\n{uses}'
    compile_all(tmp_path, "c++17", [unit], include=includedir())


@pytest.mark.exhaustive
def test_threads_are_counted_by_one_type_on_host_and_device(tmp_path: Path) -> None:
    text = 'constexpr dim3 n(2, 3);\nstatic_assert(n.x == 2 && n.y == 3 && n.z == 1, "n");\n'
    host, device = '#include "acl/acl.h"\n', '#include "simt_api/asc_simt.h"\n'
    newer = "#define ACL_STUBS_CANN 901\n"
    compile_all(tmp_path, "c++17", [f"{newer}{host}{device}{text}"], include=includedir())
    compile_all(tmp_path, "c++17", [f"{newer}{host}{text}"], include=includedir())
    older = "#define ACL_STUBS_CANN 801\n"
    compile_all(tmp_path, "c++17", [f"{older}{host}{device}{text}"], include=includedir())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("release", RELEASES)
def test_public_structs_have_the_published_layout(
    language: str, release: str, tmp_path: Path
) -> None:
    lines = [f"#define ACL_STUBS_CANN {RELEASES[release].headers}", "#include <assert.h>"]
    rows = [row for row in LAYOUTS if has(release, row[2].strip("="), None)]
    rows = [row for row in rows if "=" not in row[2] or row[2] == f"={release}"]
    assert len(rows) > 15
    lines += [f'#include "{header}"' for header in sorted({row[1] for row in rows})]
    lines.append("#include <stddef.h>")
    if language == "c11":
        lines.append("#define alignof _Alignof")
    for name, _, _, size, alignment, members in rows:
        lines.append(f'static_assert(sizeof({name}) == {size}, "{name}");')
        lines.append(f'static_assert(alignof({name}) == {alignment}, "{name}");')
        for member, offset in (pair.split("=") for pair in members.split()):
            text = f"offsetof({name}, {member}) == {offset}"
            lines.append(f'static_assert({text}, "{name}.{member}");')
    compile_all(tmp_path, language, ["\n".join([*lines, ""])], include=includedir())


def test_a_row_names_what_it_declares() -> None:
    rows = {row.text: row for row in interface()}
    names = {
        "#define ACL_MAX_DIM_CNT 128": "ACL_MAX_DIM_CNT",
        "typedef struct aclmdlDesc aclmdlDesc": "aclmdlDesc",
        "typedef void *acltdtBuf": "acltdtBuf",
        "typedef uint32_t (*aclrtSnapShotCallBack)(int32_t, void *)": "aclrtSnapShotCallBack",
        "aclmdlDesc *aclmdlCreateDesc(void)": "aclmdlCreateDesc",
    }
    assert {text: rows[text].name for text in names} == names
    assert constants()["ACL_PROF_MSPROFTX"] == 0x80
    assert constants()["ACL_PROF_ARGS_MAX"] == 17
    register = functions()["acldumpRegCallback"]
    assert register.parameters == ("messageCallback", "flag")
    assert functions()["aclmdlCreateDesc"].parameters == ()
    assert functions()["HccnRpingDeinit"].until == "9.1"


def test_each_name_is_declared_once() -> None:
    names = [row.name for row in interface() if not row.text.startswith("#include")]
    by_hand = read(INCLUDE)
    names += [f.name for f in by_hand.functions] + [c.name for c in by_hand.constants]
    assert [name for name, count in Counter(names).items() if count > 1] == []
