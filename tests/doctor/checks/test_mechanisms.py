# SPDX-License-Identifier: Apache-2.0
"""Checks by tables: variables, limits, places to write to, the driver's tools, loader's path."""

from __future__ import annotations

import re
import resource
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.facts.machine import limits, places, variables
from pyaclnn.health.checks import resources
from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.context import CheckContext, Level, Options
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.checks.variables import problem_of
from pyaclnn.health.child.probe import step_of
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.text import open_console
from tests.doctor.case import QUICK
from tests.doctor.installations import healthy
from tests.doctor.machine_breakages import sound_links

if TYPE_CHECKING:
    from tests.doctor.parts import Parts

TABLE = """\
+---------------------------+---------------+----------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)     Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)  |
+===========================+===============+==============================================+
| 0     910B3               | OK            | 93.6        40          0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3161 / 65536   |
+===========================+===============+==============================================+
| 7     910B3               | {health} | 93.6        {heat}          0    / 0             |
| 0                         | 0000:42:00.0  | 0           0    / 0          {used} / 65536  |
+===========================+===============+==============================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+==============================================+
| 7       0                 | 4711          | python3                  | 61000                   |
"""


def _table(health: str = "OK           ", heat: int = 41, used: int = 3161) -> str:
    return TABLE.format(health=health, heat=heat, used=used)


def _row(name: str) -> Any:
    return next(row for row in variables() if row.name == name)


@pytest.mark.parametrize(("entry", "repair"), [("usr/bin", "/usr/bin"), ("usr", None)])
def test_no_folder_of_the_root_is_taken_for_a_relative_path(entry: str, repair: str | None) -> None:
    machine = Machine(environment={"LD_LIBRARY_PATH": f"{entry}:/etc"})
    problem = problem_of(machine, _row("LD_LIBRARY_PATH"))
    assert (problem and problem.repair) == (repair and f"{repair}:/etc")


def test_a_file_in_a_list_of_folders_is_replaced_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "libascendcl.so").touch()
    machine = Machine(environment={"LD_LIBRARY_PATH": f"{tmp_path}/libascendcl.so:/etc"})
    problem = problem_of(machine, _row("LD_LIBRARY_PATH"))
    assert problem is not None
    assert (problem.words, problem.repair) == ("which is no folder", f"{tmp_path}:/etc")


def test_a_library_to_preload_for_another_processor_is_none_in_the_place_of_cann(
    parts: Parts, tmp_path: Path
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    image = bytearray(made.operators.read_bytes())
    image[18:20] = b"\x08\0"
    (tmp_path / "libwatch.so").write_bytes(image)
    made.environment["LD_PRELOAD"] = str(tmp_path / "libwatch.so")
    report = run(QUICK, machine=made.machine())
    (wrong,) = [result for result in report.results if result.status is Status.WARN]
    assert wrong.id == "ENV-004"
    assert "the library is for machine 8" in wrong.summary


def test_a_library_for_another_processor_is_not_said_to_be_absent(
    parts: Parts, tmp_path: Path
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    image = bytearray(made.operators.read_bytes())
    image[18:20] = b"\x08\0"
    (tmp_path / "libcust_opapi.so").write_bytes(image)
    loaded = SimpleNamespace(files={"operators": [tmp_path / "libcust_opapi.so"]}, directory="")
    session: Any = SimpleNamespace(load=lambda: loaded)
    finding = step_of("DEV-101")(session)
    assert "the library is for machine 8" in finding.summary
    assert "for this processor" in str(finding.next_step)


def test_a_home_that_no_shell_replaced_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opp/built-in").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    problem = problem_of(Machine(environment={"ASCEND_OPP_PATH": "~/opp"}), _row("ASCEND_OPP_PATH"))
    assert problem is not None
    assert (problem.words, problem.repair) == ("whose ~ only a shell replaces", f"{tmp_path}/opp")


@pytest.mark.parametrize(
    ("way", "repair"),
    [("{} ", "{}"), ("'{}'", "{}"), ("{}/opp", "{}"), ("{}/..", "{}"), ("{}", None), ("{}/", None)],
)
def test_the_value_that_was_meant_is_found(tmp_path: Path, way: str, repair: str | None) -> None:
    opp = tmp_path / "opp"
    (opp / "built-in").mkdir(parents=True)
    machine = Machine(environment={"ASCEND_OPP_PATH": way.format(opp)})
    problem = problem_of(machine, _row("ASCEND_OPP_PATH"))
    if repair is None:
        assert problem is None
    else:
        assert problem is not None
        assert problem.outcome == "ENV-004.misplaced"
        assert str(opp.resolve()) in problem.repair or problem.repair.endswith("/opp")


@pytest.mark.parametrize("row", places(), ids=lambda row: row.name)
def test_a_folder_that_is_nearly_full_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Any
) -> None:
    place = tmp_path / row.default.removeprefix("~/").removeprefix("/")
    place.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    machine = Machine(tmp_path, {"HOME": "/", "TMPDIR": str(tmp_path)}, Path("/"))
    here = [one for one in places() if one.default in row.default]  # the others are not there
    monkeypatch.setattr(resources, "places", lambda: here)
    check = find("SYS-002").function
    context = CheckContext(machine, QUICK)
    for free, status in ((row.free, Status.PASS), (row.free - 1, Status.WARN)):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        finding = check(context)
        assert finding.status is status
    assert f"{place.name} is nearly full: " in finding.summary


@pytest.mark.parametrize("row", variables(), ids=lambda row: row.name)
def test_a_variable_of_any_length_is_judged(row: Any) -> None:
    for text in ("/" + "a" * 100_000, "-1", " ", "\n", "\u0660", "9" * 1000):
        problem_of(Machine(environment={row.name: text}), row)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("HCCL_SOCKET_IFNAME", "eth9", "'eth9', but no .* there are bond0, ens1, lo;"),
        ("HCCL_SOCKET_IFNAME", "=ens", "'=ens', but no"),
        ("HCCL_SOCKET_IFNAME", "ens", ""),
        ("HCCL_SOCKET_IFNAME", "=eth0,bond0", ""),
        ("HCCL_SOCKET_IFNAME", "^docker", ""),
        ("GLOO_SOCKET_IFNAME", "eth0", "'eth0', but no"),
        ("HCCL_IF_IP", "300.1.1.1", "must be an IPv4 or IPv6 address"),
        ("HCCL_IF_IP", "10.0.0", "must be an IPv4 or IPv6 address"),
        ("HCCL_IF_IP", "192.168.100.101", ""),
        ("HCCL_IF_IP", "fe80::1%ens1", ""),
        ("RANK_TABLE_FILE", "{root}/half.json", "half.json', which is no JSON: "),
        ("RANK_TABLE_FILE", "{root}/whole.json", ""),
        ("RANK_TABLE_FILE", "{root}/none.json", "which does not exist"),
    ],
)
def test_variables_of_a_cluster_are_judged_by_this_machine(
    parts: Parts, tmp_path: Path, name: str, text: str, words: str
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    for interface in ("lo", "ens1", "bond0"):
        made.write(f"/sys/class/net/{interface}/mtu", "1500\n")
    made.write("/half.json", '{"server_count": "1", "server_list": [{"dev')
    made.write("/whole.json", '{"server_count": "1"}')
    made.environment[name] = text.format(root=made.root)
    report = run(Options(only=("ENV-004",), level=Level.QUICK), machine=made.machine())
    (result,) = (r for r in report.results if r.id == "ENV-004")
    assert re.search(words, result.summary) if words else result.status is Status.PASS


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", [row for row in limits() if row.resource], ids=lambda row: row.name)
def test_a_low_limit_is_named(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Any
) -> None:
    number, real = getattr(resource, row.resource), resource.getrlimit
    monkeypatch.setattr(
        resource,
        "getrlimit",
        lambda which: (row.wants - 1, -1) if which == number else (-1, real(which)[1]),
    )
    report = run(QUICK, machine=healthy(tmp_path / "machine", "8.1", parts).machine())
    (problem,) = (result for result in report.results if result.id == "SYS-001")
    assert problem.status in {Status.WARN, Status.FAIL}
    assert f"limit of {row.name} is {row.wants - 1}" in problem.summary


GROUPS = [
    ("", "memory.max", "536870911", "memory of the control group is 536870911; CANN needs"),
    ("", "memory.max", "8589934591", "memory of the control group is 8589934591; CANN may need"),
    ("", "memory.max", "max", ""),
    ("0::/pod/x\n", "pod/x/memory.max", "1048576", "memory of the control group is 1048576;"),
    ("0::/pod/x\n", "pod/memory.max", "1048576", "memory of the control group is 1048576;"),
    ("5:memory:/d\n", "memory/d/memory.limit_in_bytes", "4096", "memory of the control group is"),
    ("5:memory:/d\n", "memory/memory.limit_in_bytes", "9223372036854771712", ""),
    ("3:pids:/d\n", "pids/d/pids.max", "63", "processes of the control group is 63; CANN needs"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("member", "file", "limit", "words"), GROUPS)
def test_a_low_limit_of_the_control_group_is_named(
    parts: Parts, tmp_path: Path, member: str, file: str, limit: str, words: str
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    made.write("/proc/self/cgroup", member)
    made.write(f"/sys/fs/cgroup/{file}", f"{limit}\n")
    (result,) = (r for r in run(QUICK, machine=made.machine()).results if r.id == "SYS-001")
    assert (words in result.summary) if words else result.status is Status.PASS


def test_links_as_wide_as_the_port_above_them_are_in_order(parts: Parts, tmp_path: Path) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    sound_links(made)
    (result,) = (r for r in run(QUICK, machine=made.machine()).results if r.id == "HW-008")
    assert (result.status, result.summary[:19]) == (Status.PASS, "the links of 2 NPUs")
    assert "16 lanes of 16 GT/s; 0 fatal, 0 uncorrected, 3 corrected" in result.evidence[0].text


@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        (_table(), Status.PASS, "2 chips, all OK"),
        (_table(health="Critical     "), Status.FAIL, "NPU 7.*Critical"),
        (_table(health="General Warning"), Status.WARN, "NPU 7.*General Warning"),
        (_table(heat=-4000), Status.WARN, "-4000 °C"),
        (_table(heat=99), Status.WARN, "NPU 7.*hot: 99"),
        (_table(used=65000), Status.WARN, "NPU 7.*is full: 65000 of 65536 MB"),
        (_table(used=0).replace("0 / 65536", "0 / 0"), Status.FAIL, "NPU 7.*has no memory"),
        ("nothing", Status.WARN, "no table"),
        (None, Status.WARN, "without an end"),
    ],
)
def test_the_table_of_npu_smi_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str | None,
    status: Status,
    words: str,
) -> None:
    line = "exec /usr/bin/yes" if script is None else f"printf '%s' '{script}'"
    _tool(tmp_path / "npu-smi", line)
    monkeypatch.setenv("PATH", str(tmp_path))
    task = SimpleNamespace(simulated=False, expected_devices=2)
    finding = step_of("HW-005")(SimpleNamespace(task=task))  # type: ignore[arg-type]  # all it needs
    assert finding.status is status
    assert re.search(words, finding.summary), finding.summary
    processes = [e.text for e in finding.evidence if e.label == "process on it"]
    assert processes == (["7 0 | 4711 | python3 | 61000"] if "4711" in (script or "") else [])


def test_a_tool_that_does_not_start_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "npu-smi").symlink_to("/gone/npu-smi")
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = step_of("HW-005")(SimpleNamespace())  # type: ignore[arg-type]  # it asks for nothing
    assert finding.status is Status.WARN
    assert f"{tmp_path}/npu-smi is a link to /gone/npu-smi" in finding.summary
    assert "mounted" in finding.causes[0]


@pytest.mark.parametrize(
    ("answer", "status"),
    [("OK", Status.PASS), ("NOT OK", Status.FAIL), ("NOK", Status.FAIL), ("UNKNOWN", Status.PASS)],
)
def test_driver_and_firmware_that_are_no_pair_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, status: Status
) -> None:
    board = f'[ "$3" = board ] && echo "\tCompatibility                  : {answer}" && exit'
    _tool(tmp_path / "npu-smi", f"{board}\nprintf '%s' '{_table()}'")
    monkeypatch.setenv("PATH", str(tmp_path))
    task = SimpleNamespace(simulated=False, expected_devices=2)
    finding = step_of("HW-005")(SimpleNamespace(task=task))  # type: ignore[arg-type]  # all it needs
    assert finding.status is status
    assert (f"Compatibility {answer}" in finding.summary) == (status is Status.FAIL)


LINKS = [
    ("case $2 in 0) echo 'link status: UP';; *) echo 'link status: DOWN';; esac", Status.WARN),
    ("echo 'link status: UP'", Status.PASS),
    ("echo 'link status: DOWN'", Status.PASS),
    ("echo 'Command execute failed.'; exit 1", Status.SKIP),
    ("exec /usr/bin/yes", Status.SKIP),
]


@pytest.mark.parametrize(("script", "status"), LINKS)
def test_a_port_that_is_down_while_another_is_up_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: Status
) -> None:
    _tool(tmp_path / "npu-smi", "printf ' 0 0 0 Ascend910B3\\n 1 0 1 Ascend910B3\\n'")
    _tool(tmp_path / "hccn_tool", script)
    monkeypatch.setenv("PATH", str(tmp_path))
    task = SimpleNamespace(simulated=False)
    finding = step_of("HW-007")(SimpleNamespace(task=task))  # type: ignore[arg-type]  # all it needs
    assert finding.status is status, finding.summary
    if status is Status.WARN:
        assert finding.summary.startswith("the network port of device 1 has no link; 1 of 2")


def _tool(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("nodes", "status"), [(1, Status.WARN), (2, Status.PASS), (3, Status.PASS)]
)
def test_chips_without_a_node_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: int, status: Status
) -> None:
    _tool(tmp_path / "npu-smi", f"printf '%s' '{_table()}'")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    task = SimpleNamespace(simulated=False, expected_devices=nodes)
    assert step_of("HW-005")(SimpleNamespace(task=task)).status is status  # type: ignore[arg-type]  # all it needs


@pytest.mark.parametrize(
    ("columns", "width"), [("60", 60), ("", 110), ("-1", 110), ("7", 40), ("9" * 30, 110)]
)
def test_what_is_piped_has_the_width_of_columns(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    with monkeypatch.context() as variables:  # pytest's own lines have that width, too
        variables.setenv("COLUMNS", columns)
        assert open_console().width == width
