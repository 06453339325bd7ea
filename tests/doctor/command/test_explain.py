# SPDX-License-Identifier: Apache-2.0
"""Every code has a name, a meaning, causes and a next step; it is found however it is asked for."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.errors import AclError
from pyaclnn.cann import raw, status as codes
from pyaclnn.facts import explanations
from pyaclnn.facts.explanations import (
    CLUSTER,
    DEVICE_MANAGEMENT,
    DRIVER,
    FAMILIES,
    LINES,
    STATUS,
    TORCH_KINDS,
    internal_codes,
    messages,
)
from pyaclnn.health import arguments as command
from pyaclnn.health.explain.codes import suggestions
from pyaclnn.health.explain.log import look_up

if TYPE_CHECKING:
    from pyaclnn.facts.explanations.explanation import Explanation

EXPLANATIONS = Path(explanations.__file__).parent
NO_CAUSE = {"ACL_ERROR_NONE", "ACLNN_SUCCESS"}


@pytest.fixture(scope="module")
def every() -> dict[str, Explanation]:
    """Return all explanations; reading their files would slow down each collection."""
    return {
        **STATUS,
        **{str(code): known for code, known in DEVICE_MANAGEMENT.items()},
        **{known.name: known.explanation for known in DRIVER.values()},
        **CLUSTER,
        **{f"ERR00{kind:03}": known for kind, known in TORCH_KINDS.items()},
        **{line.pattern.pattern: line.explanation for line in LINES.values()},
    }


def explain(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="pyaclnn")
    command.add_to(parser.add_subparsers(required=True), "explain")
    try:
        options = parser.parse_args(["explain", *arguments])
        return int(options.action(options))
    except SystemExit as end:
        return int(end.code or 0)


# ---- the table ----------------------------------------------------------------------------------


def test_every_status_code_of_the_headers_is_explained_and_nothing_else() -> None:
    assert set(STATUS) - {"ACLNN_SUCCESS"} == set(codes.names().values())
    assert len(codes.names()) > 270


def test_each_code_has_a_name_and_the_name_has_the_code() -> None:
    for code, name in codes.names().items():
        assert codes.explanation(code) is STATUS[name], name
        assert codes.meaning(code) == (name, STATUS[name].exception, STATUS[name].next_step)
        if name != "MOCK_NOT_IMPLEMENTED":
            assert codes.code_named(name) == getattr(raw, name) == code, name


def test_each_explanation_is_written_in_one_manner(every: dict[str, Explanation]) -> None:
    for name, known in every.items():
        assert known.meaning[0].isupper(), name
        assert known.meaning.endswith("."), name
        assert not known.next_step[0].isupper(), name
        assert known.next_step.endswith((".", "?")), name
        unknown = known.meaning.endswith("not known here.")
        assert bool(known.causes) == (name not in NO_CAUSE and not unknown), name
        assert [cause for cause in known.causes if cause.endswith(".")] == [], name
        assert [cause for cause in known.causes if not begins_as_it_should(cause)] == [], name
        assert len(set(known.causes)) == len(known.causes), name
        assert issubclass(known.exception, AclError), name


def test_no_text_of_a_file_is_left_over_and_each_place_is_filled(
    every: dict[str, Explanation],
) -> None:
    for path in EXPLANATIONS.rglob("*.toml"):
        text = path.read_text(encoding="utf-8")
        written = re.findall(r"(?m)^(\w+) = ", text.partition("[texts]")[2].partition("\n[")[0])
        assert [name for name in written if text.count(f"{{{name}}}") < 2] == [], path.name
    words = [word for known in every.values() for word in (known.meaning, *known.causes)]
    words += [known.next_step for known in every.values()]
    words += [text for known in messages().values() for text in (known.meaning, known.next_step)]
    assert [word for word in words if "{" in word] == []


def test_no_text_hides_another_of_its_name_in_a_second_file() -> None:
    assert len(LINES) == sum(map(len, LINES.groups.values()))


def test_each_line_of_the_tables_of_codes_is_whole() -> None:
    for code, known in messages().items():
        assert known.whose in {"program", "machine", "both"}, code
        assert known.meaning[0].isupper() or not known.meaning[0].isalpha(), code
        assert known.meaning.endswith("."), code
        assert known.next_step[0].isupper() or not known.next_step[0].isalpha(), code
        assert known.next_step.endswith("."), code
        assert all(status in codes.names() for status in known.status), code
    assert {status for _, status in internal_codes().values()} <= set(codes.names())
    assert set(FAMILIES.values()) <= {known.component for known in messages().values()}


# CANN: numbers of codes in its sources (error_code.json and internal_error_define.hpp of the
# runtime, the registries of GE and of the operators, hccl_types.h, ascend_hal_error.h).
KINDS = {"EE": 28, "EH": 15, "EI": 21, "EJ": 4, "EK": 12, "EL": 23, "EZ": 60, "HC": 25, "E1": 120}


def test_the_table_of_codes_is_complete() -> None:
    counted = Counter(code[:2] for code in messages())
    assert {kind: counted[kind] for kind in KINDS} == KINDS
    assert len(internal_codes()) == 384


def test_every_code_of_the_tables_is_answered() -> None:
    for code, known in messages().items():
        (entry,) = look_up(code)
        assert (entry.meaning, entry.next_step) == (known.meaning, known.next_step)
    for number, (name, status) in internal_codes().items():
        (entry,) = look_up(f"{number:#x}")
        assert entry.heading.startswith(str(status))
        assert any(name in note for note in entry.notes)


def begins_as_it_should(cause: str) -> bool:
    word = cause.split(maxsplit=1)[0].rstrip(",").removesuffix("'s")
    return cause[0].islower() or not cause[0].isalpha() or word in PROPER


PROPER = {"NULL", "ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_RT_VISIBLE_DEVICES",
          "LD_LIBRARY_PATH", "AI", "CANN", "HCCL_SOCKET_IFNAME", "RANK_TABLE_FILE", "Python",
          "ASCEND_CUSTOM_OPP_PATH", "PYTHONPATH", "NumPy"}  # fmt: skip


def test_codes_of_different_meaning_are_not_told_in_the_same_words() -> None:
    same = {m: n for m, n in Counter(known.meaning for known in STATUS.values()).items() if n > 2}
    assert not same


def test_replacements_are_codes() -> None:
    replaced = {name: known.replaced_by for name, known in STATUS.items() if known.replaced_by}
    numbers = {codes.code_named(a): codes.code_named(b) for a, b in replaced.items()}
    # CANN: acl/acl_base.h marks these as deprecated.
    assert numbers == {
        100034: 107015,
        100035: 107012,
        100036: 507012,
        100038: 145015,
        100040: 107013,
        100041: 107014,
        200002: 107001,
    }


# CANN: runtime errcode_manage.cc, from the driver's codes to the runtime's.
BECOMES = {
    1: 207004, 2: 107001, 3: 107000, 4: 107017, 6: 207001, 14: 207005, 40: 207005, 16: 507012,
    17: 507899, 25: 507901, 33: 507010, 37: 207012, 46: 207006, 58: 107000, 89: 207020,
    0xFFFE: 207000, 7: 507899, 8: 507899, 13: 507899, 53: 507899, 87: 507899, 88: 507899,
}  # fmt: skip


def test_driver_codes_become_the_codes_that_the_runtime_makes_of_them() -> None:
    assert {n: codes.code_named(known.becomes) for n, known in DRIVER.items()} == BECOMES


# ---- asking -------------------------------------------------------------------------------------

ASKED = [
    ("507033", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    (" 507033 ", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("ACL_ERROR_RT_DEV_SETUP_ERROR", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("rt_dev_setup_error", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("dev_setup_error", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("find_kernel_error", "561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR"),
    ("ACLNN_ERR_INNER_KEY_CONFILICT", "561105 ACLNN_ERR_INNER_KEY_CONFLICT"),
    ("ACLNN_SUCCESS", "0 ACL_ERROR_NONE"),
    ("0", "0 ACL_ERROR_NONE"),
    ("999001", "999001 MOCK_NOT_IMPLEMENTED"),
    ("mock_not_implemented", "999001 MOCK_NOT_IMPLEMENTED"),
    ("-8020", "-8020 (device management; npu-smi prints it)"),
    ("17", "17 DRV_ERROR_IOCRL_FAIL (driver)"),
    ("drv_error_busy", "13 DRV_ERROR_BUSY (driver)"),
    ("EE1015", "EE1015 (runtime)"),
    ("ez9999", "EZ9999 (operator compiler)"),
    ("EE1099", "EE1099 (runtime)"),
    ("hccl 7", "HCCL 7 HCCL_E_UNAVAIL (HCCL)"),
    ("HCCL_E_UNAVAIL", "HCCL 7 HCCL_E_UNAVAIL (HCCL)"),
    ("driver 12", "driver 12 DRV_ERROR_REPEATED_USERD (driver)"),
    ("12", "driver 12 DRV_ERROR_REPEATED_USERD (driver)"),
    ("0x7020011", "507000 ACL_ERROR_RT_INTERNAL_ERROR"),
    ("env-002", "ENV-002 visible devices"),
    ("ray-101", "RAY-101 (pyaclnn fleet doctor)"),
    ("RAY-102@3", "RAY-102 (pyaclnn fleet doctor)"),
    ("REP-001", "REP-001 (pyaclnn doctor merge)"),
]


@pytest.mark.parametrize(("asked", "heading"), ASKED)
def test_a_code_is_found_by_number_name_part_of_the_name_or_check(asked: str, heading: str) -> None:
    assert [entry.heading for entry in look_up(asked)] == [heading]


OF_A_LOG = [
    ("aclrtSetDevice(0) failed, ret=507033", [507033]),
    ("error code is 107002: context null, then 561003.", [107002, 561003]),
    ("507899 and again 507899", [507899]),
    ("[ERROR] RUNTIME(812,python):2026-05-21-08:30:00 retCode=0x7020011", [507000]),
    ("rtDeviceSynchronize failed on device 0, 507015", [507015]),
    ("codes 507011, 507899 failed", [507011, 507899]),
    ("a failure with shape [1024, 507015]", []),
    ("ACL_ERROR_RT_CONTEXT_NULL at pid 123456", [107002]),
]


@pytest.mark.parametrize(("line", "found"), OF_A_LOG)
def test_codes_are_found_in_a_line_of_a_log(line: str, found: list[int]) -> None:
    headings = [f"{code} {codes.names()[code]}" for code in found]
    assert [entry.heading for entry in look_up(line)] == headings


@pytest.mark.parametrize("asked", ["507999", "zzz", "", "ACL_ERROR_", "1e9", "XYZ-001", "٣"])
def test_what_is_unknown_is_not_made_up(asked: str) -> None:
    assert look_up(asked) == []


SUGGESTED = [
    ("507133", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("50733", "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"),
    ("CONTEX_NULL", "107002 ACL_ERROR_RT_CONTEXT_NULL"),
    ("heartbeat", "507010 ACL_ERROR_RT_LOST_HEARTBEAT"),
    ("-8021", "-8020 (device management)"),
]


@pytest.mark.parametrize(("asked", "line"), SUGGESTED)
def test_what_is_close_is_suggested(asked: str, line: str) -> None:
    assert line in suggestions(asked)


def test_every_code_that_lacks_only_its_last_digit_is_suggested() -> None:
    begun = [f"{code} {name}" for code, name in codes.names().items() if code // 10 == 50701]
    assert "507015 ACL_ERROR_RT_AICORE_EXCEPTION" in begun
    assert suggestions("50701") == sorted(begun)


def test_of_many_codes_that_begin_with_what_was_typed_the_first_are_suggested() -> None:
    begun = [f"{code} {name}" for code, name in codes.names().items() if code // 1000 == 507]
    assert suggestions("507") == sorted(begun)[:5]


def test_the_old_code_names_the_new_one() -> None:
    (entry,) = look_up("100036")
    assert "Newer CANN returns instead: 507012 ACL_ERROR_RT_REPORT_TIMEOUT" in entry.notes


def test_a_driver_s_code_names_what_the_runtime_makes_of_it() -> None:
    (entry,) = look_up("87")
    assert "The runtime makes of it: 507899 ACL_ERROR_RT_DRV_INTERNAL_ERROR" in entry.notes


# ---- the command --------------------------------------------------------------------------------


def test_the_command_explains(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("507033") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "507033 ACL_ERROR_RT_DEV_SETUP_ERROR"
    assert "  Likely causes:" in lines
    assert any(line.startswith("    1. driver, firmware and CANN") for line in lines)
    assert any(line.startswith("  Next: No device could be opened") for line in lines)
    assert "  In Python: pyaclnn.DeviceLostError, which is also OSError" in lines
    assert all(line == line.rstrip() for line in lines)


def test_a_negative_code_is_no_option(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("-8020") == 0
    assert "The device is occupied." in capfd.readouterr().out


def test_several_words_are_one_text(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("failed", "with", "507033,", "then", "507007") == 0
    out = capfd.readouterr().out
    assert "507033 ACL" in out
    assert "507007 ACL" in out


def test_an_unknown_code_exits_with_1_and_suggests(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("507133") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "nothing is known about '507133'" in err
    assert "  507033 ACL_ERROR_RT_DEV_SETUP_ERROR\n" in err


def test_nonsense_exits_with_1_and_names_the_list(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("qqqq") == 1
    assert "explain --list" in capfd.readouterr().err


def test_nothing_at_all_is_a_wrong_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain() == 2
    assert "a code, a name, a text or a log is missing" in capfd.readouterr().err


def test_the_list_has_every_code_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain("--list") == 0
    numbers = [int(line.split()[0]) for line in capfd.readouterr().out.splitlines()]
    assert numbers == sorted(codes.names())


# ---- what stands around CANN --------------------------------------------------------------------

AROUND = [
    ("ERR00100", ["ERR00100 (torch_npu)"]),
    ("err02200", ["ERR02200 (torch_npu)"]),
    ("EI0006", ["EI0006 (HCCL)"]),
    ("EJ0003", ["EJ0003 (device network)"]),
    ("0x7BC87", ["507015 ACL_ERROR_RT_AICORE_EXCEPTION"]),
    ("0xffffe0ac", ["-8020 (device management; npu-smi prints it)"]),
    ("aclrtMalloc", ["aclrtMalloc(devPtr, size, policy)"]),
    ("aclrtMalloc()", ["aclrtMalloc(devPtr, size, policy)"]),
    (
        "libascend_hal.so: cannot open shared object file: No such file or directory",
        ["libascend_hal.so (the dynamic loader)"],
    ),
    (
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory",
        ["libhccl.so (the dynamic loader)"],
    ),
    (
        "OSError: /x/libopapi.so: undefined symbol: aclrtMalloc",
        ["aclrtMalloc (the dynamic loader)", "aclrtMalloc(devPtr, size, policy)"],
    ),
    ("/x/libacl.so: file too short", ["/x/libacl.so (the dynamic loader)"]),
    (
        "/lib64/libc.so.6: version `GLIBC_2.34' not found (required by x)",
        ["GLIBC_2.34 (the dynamic loader)"],
    ),
    (
        "(PID:1, Device:0, RankID:-1) ERR00100 PTA call acl api failed, error code is 507015",
        ["507015 ACL_ERROR_RT_AICORE_EXCEPTION", "ERR00100 (torch_npu)"],
    ),
]


@pytest.mark.parametrize(("asked", "headings"), AROUND)
def test_what_the_programs_around_cann_say_is_known(asked: str, headings: list[str]) -> None:
    entries = look_up(asked)
    assert [entry.heading for entry in entries] == headings
    assert all(entry.meaning for entry in entries)


@pytest.mark.parametrize(
    "asked", ["ERR99100", "ERR00999", "0x12345678", "aclrtNothing", "x.so: fine"]
)
def test_what_is_not_known_there_is_not_guessed(asked: str) -> None:
    assert look_up(asked) == []
