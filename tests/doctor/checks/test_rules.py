# SPDX-License-Identifier: Apache-2.0
"""The rules on which the checks rest: visible devices, versions, declarations, libraries, paths."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from pyaclnn.cann.headers import no_header
from pyaclnn.cann.prototypes import differences, read_prototypes
from pyaclnn.cann.signatures import signatures
from pyaclnn.facts.chips import all_chips
from pyaclnn.health.checks.dependencies import close_over, system_directories
from pyaclnn.health.checks.driver import read_visible
from pyaclnn.health.checks.installation import order_of
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.checks.packages import kernel_folder
from pyaclnn.health.checks.resources import refusal
from pyaclnn.health.checks.symbols import core
from pyaclnn.mock import includedir

if TYPE_CHECKING:
    from tests.doctor.parts import Parts

# ---- ASCEND_RT_VISIBLE_DEVICES ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "devices", "problem"),
    [
        ("0", (0,), None),
        ("0,1,3", (0, 1, 3), None),
        ("3", (3,), None),
        ("00,1", (0, 1), None),
        ("", (), "it is empty"),
        (" 0", (), "' '"),
        ("0, 1", (0,), "' '"),
        ("0,1,", (0, 1), "comma"),
        (",0", (), "','"),
        ("0,,1", (0,), "','"),
        ("1,0", (), "0 stands behind 1"),
        ("1,1", (), "1 is there twice"),
        ("0,4", (0,), "no device 4"),
        ("4,0", (), "no device 4"),
        ("-1", (), "'-'"),
        ("0-3", (0,), "'-'"),
        ("all", (), "'a'"),
    ],
)
def test_visible_devices_are_read_as_cann_reads_them(
    text: str, devices: tuple[int, ...], problem: str | None
) -> None:
    reading = read_visible(text, 4)
    assert reading.devices == devices
    assert (reading.problem is None) == (problem is None)
    assert problem is None or problem in str(reading.problem)


@given(st.sets(st.integers(0, 15), min_size=1))
def test_ascending_unique_numbers_of_existing_devices_are_taken_as_written(ids: set[int]) -> None:
    reading = read_visible(",".join(map(str, sorted(ids))), 16)
    assert (reading.devices, reading.problem) == (tuple(sorted(ids)), None)


@given(st.text("0123456789, -a", max_size=8), st.integers(0, 8))
def test_whatever_is_written_only_existing_devices_become_visible(text: str, present: int) -> None:
    devices = read_visible(text, present).devices
    assert list(devices) == sorted(set(devices))
    assert all(device < present for device in devices)


# ---- versions -----------------------------------------------------------------------------------


def test_versions_are_put_in_the_order_of_their_release() -> None:
    ordered = [
        "7.0.0",
        "8.0.RC1",
        "8.0.RC3",
        "8.0.0",
        "8.1.RC1",
        "8.3.RC1.alpha002",
        "8.3.RC1",
        "8.5.0",
        "9.0.0",
        "9.1.0-beta.3",
        "9.1.0",
        "24.1.rc1",
        "25.0.rc1",
        "25.5.0",
    ]
    assert sorted(ordered, key=order_of) == ordered


# ---- chips --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("soc_name", "folder"),
    [
        ("Ascend910B", "ascend910"),
        ("Ascend910B3", "ascend910b"),
        ("Ascend910B4-1", "ascend910b"),
        ("Ascend910_9362", "ascend910_93"),
        ("Ascend910ProA", "ascend910"),
        ("Ascend310P3", "ascend310p"),
        ("Ascend310B1", "ascend310b"),
        ("Ascend999X", None),
    ],
)
def test_the_folder_of_kernels_follows_from_the_chips_name(
    soc_name: str, folder: str | None
) -> None:
    assert kernel_folder(soc_name) == folder


def test_every_chip_of_the_simulated_npu_has_a_folder_of_kernels() -> None:
    assert all(kernel_folder(chip.soc_name) for chip in all_chips())


# ---- declarations -------------------------------------------------------------------------------

AS_IN_CANN = """
#include <cstdint>
// aclnnStatus aclnnRmsNorm(int old);
constexpr int32_t OK = 0;
extern "C" {
/* Computes
 * aclnnStatus aclnnRmsNorm(nothing); */
__attribute__((visibility("default"))) aclnnStatus aclnnRmsNormGetWorkspaceSize(
    const aclTensor* x, const aclTensor* gamma, double epsilon,
    const aclTensor* y, const aclTensor* rstd, std::uint64_t* size, aclOpExecutor** run);
ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNorm(void* workspace, uint64_t workspaceSize,
                                             aclOpExecutor* executor, void *const stream);
inline int helper() { return aclnnRmsNorm(0, 0, 0, 0); }
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(void (*fn)(void *), void *userData,
    enum aclrtCallbackBlockType blockType, aclrtStream stream);
ACL_FUNC_VISIBILITY const char *aclrtGetSocName();
}
"""


def test_cpp_headers_in_the_vendors_style_are_read_and_found_equal(tmp_path: Path) -> None:
    header = tmp_path / "aclnn_rms_norm.h"
    header.write_text(AS_IN_CANN)
    names = frozenset({"aclnnRmsNorm", "aclnnRmsNormGetWorkspaceSize", "aclrtGetSocName"})
    theirs = read_prototypes([header], names)
    ours = read_prototypes(includedir().rglob("*.h"), names)
    assert theirs.keys() == ours.keys() == names
    assert [differences(ours[name], theirs[name]) for name in sorted(names)] == [None] * 3


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("double epsilon,", "float epsilon,", "argument 3 is float, not double"),
        ("double epsilon,", "", "takes 6 arguments, not 7"),
        ("const aclTensor* rstd", "const aclTensorList* rstd", "argument 5 is aclTensorList*"),
        ("aclnnStatus aclnnRmsNormGet", "void aclnnRmsNormGet", "returns void, not int32_t"),
        ("aclOpExecutor** run", "aclOpExecutor* run", "argument 7 is aclOpExecutor*, not"),
        ("const aclTensor* x", "aclTensor *const input", None),
    ],
)
def test_what_differs_for_a_caller_is_told(
    tmp_path: Path, before: str, after: str, difference: str | None
) -> None:
    assert before in AS_IN_CANN
    header = tmp_path / "aclnn_rms_norm.h"
    header.write_text(AS_IN_CANN.replace(before, after))
    name = "aclnnRmsNormGetWorkspaceSize"
    theirs = read_prototypes([header], frozenset({name}))[name]
    ours = read_prototypes(includedir().rglob("*.h"), frozenset({name}))[name]
    told = differences(ours, theirs)
    assert (told is None) == (difference is None)
    assert difference is None or difference in str(told)


def test_every_declared_function_is_read_from_our_own_headers() -> None:
    names = frozenset(signatures())
    found = read_prototypes(includedir().rglob("*.h"), names)
    assert found.keys() == names
    counts = {name: len(prototype.parameters) for name, prototype in found.items()}
    assert counts == {name: len(s.parameters) for name, s in signatures().items()}


# ---- libraries ----------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_what_a_library_needs_is_looked_for_in_the_loaders_order(
    tmp_path: Path, parts: Parts
) -> None:
    root = tmp_path / "root"
    (root / "etc/ld.so.conf.d").mkdir(parents=True)
    (root / "etc/ld.so.conf").write_text("include ld.so.conf.d/*.conf\n/opt/last # comment\n")
    (root / "etc/ld.so.conf.d/ascend_driver_so.conf").write_text("/usr/local/Ascend/driver/lib64\n")
    machine = Machine(root=root, environment={})
    assert system_directories(machine)[:2] == [
        root / "usr/local/Ascend/driver/lib64",
        root / "opt/last",
    ]
    closure = close_over(machine, parts.old / "libascendcl.so")
    (gap,) = closure.missing
    assert gap.name == "libascend_hal.so"
    tried = [path for path, _ in gap.tried]
    assert tried[:2] == [
        (parts.old / "libascend_hal.so").resolve(),
        root / "usr/local/Ascend/driver/lib64/libascend_hal.so",
    ]
    (root / "usr/local/Ascend/driver/lib64").mkdir(parents=True)
    shutil.copy(parts.driver / "libascend_hal.so", tried[1])
    assert not close_over(machine, parts.old / "libascendcl.so").missing


def test_the_core_functions_are_those_that_the_package_names() -> None:
    package = Path(signatures.__wrapped__.__code__.co_filename).parents[1]
    files = [p for p in package.rglob("*.py") if "doctor" not in p.relative_to(package).parts]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    waits = {f"{name}WithTimeout" for name in re.findall(r'wait_for\("(acl[A-Za-z]+)"', text)}
    named = (set(re.findall(r'"(acl[A-Za-z]+)"', text)) | waits) & signatures().keys()
    assert named >= {
        name for name in core() if not name.startswith(("aclnn", "aclCreate", "aclDe"))
    }
    assert signatures().keys() >= core()


# ---- the machine --------------------------------------------------------------------------------


def test_a_pipe_under_the_name_of_a_file_does_not_keep_anybody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "version.info")
    assert Machine(root=tmp_path).text("/version.info") is None


def test_pipes_and_giants_among_headers_are_passed_over_with_a_reason(tmp_path: Path) -> None:
    pipe, giant = tmp_path / "pipe.h", tmp_path / "giant.h"
    os.mkfifo(pipe)
    giant.touch()
    os.truncate(giant, 1 << 40)
    assert read_prototypes([pipe, giant], core()) == {}
    assert no_header(pipe) == "it is no ordinary file"
    assert "too large" in str(no_header(giant))


def test_who_has_no_home_is_at_home_in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert Machine().home == Path("/")


def test_a_folder_that_takes_files_has_no_reason_against_it(tmp_path: Path) -> None:
    assert refusal(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []
    assert refusal(tmp_path / "none") == "No such file or directory"


def test_permissions_of_an_assumed_user_follow_from_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "libascendcl.so"
    file.write_text("")
    file.chmod(0o640)
    group = file.stat().st_gid
    stranger = Machine(root=tmp_path, uid=61000, gids=frozenset({61000}), assumed=True)
    member = Machine(root=tmp_path, uid=61000, gids=frozenset({group}), assumed=True)
    root = Machine(root=tmp_path, uid=0, gids=frozenset(), assumed=True)
    assert [m.may(file, "r") for m in (stranger, member, root)] == [False, True, True]
    assert not member.may(file, "rw")
