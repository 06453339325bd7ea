# SPDX-License-Identifier: Apache-2.0
"""The bundle for a bug report: what is in it, and what is not."""

from __future__ import annotations

import io
import re
import tarfile
import time

import pytest
from msgspec.structs import replace

from pyaclnn.facts.variables import REPORTED
from pyaclnn.health.report import bundle
from pyaclnn.health.report.bundle import as_bundle, names_of_this_machine, redact, without_private
from pyaclnn.health.report.record import Evidence, Report, Status
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import report, result


def unpacked(*reports: Report) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(as_bundle(reports)), mode="r:gz") as archive:
        return {
            entry.name: file.read().decode()
            for entry in archive
            if (file := archive.extractfile(entry)) is not None
        }


def told(text: str) -> str:
    """Return a log text after redaction."""
    given = report(
        result("A-001", Status.FAIL, evidence=(Evidence("log", "plog", text),)), exit_status=1
    )
    return redact(given, 1, {"alice", "gpu-farm-7"}).results[0].evidence[0].text


KEPT = [
    "aclrtSetDevice(0) returned 507033",
    "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so: cannot open shared object file",
    "/dev/davinci0 crw-rw---- HwHiAiUser HwHiAiUser",
    "EE9999: device retain failed, retCode=0x7020011, V100R001C21SPC001B238",
    "max |error| 1.5e-3 / 2.0 and 4/3",
    "2026-05-21T08:30:00+00:00",
    "https://www.hiascend.com/document",
    "version 8.1.RC1, driver 25.2.0",
    "the file token.json is missing",
    "maliced and alicex stay",
]
HIDDEN = [
    ("/home/alice/work/model.py", "/<private>/model.py"),
    ("/home/bob/Ascend/cann/lib64/libnnopbase.so", "/<private>/Ascend/cann/lib64/libnnopbase.so"),
    ("/data/secret-project/run", "/<private>"),
    ("~/private/notes", "/<private>"),
    ("LD=/home/bob/a:/home/bob/b", "LD=/<private>:/<private>"),
    ("user alice on gpu-farm-7", "user <private> on <private>"),
    ("password=hunter2", "password=<private>"),
    ("API_KEY: abc123", "API_KEY: <private>"),
    ("HF_TOKEN=hf_abc", "HF_TOKEN=<private>"),
    ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer <private>"),
    ("https://bob:pw@github.com/x", "https://<private>"),
    ("see http://wiki.corp.example/alice.", "see http://<private>"),
    ("file:///home/bob/x", "file://<private>"),
    ("/opt/x:/home/bob/a:/usr/lib", "/opt/x:/<private>:/usr/lib"),
    ("mail bob@example.org", "mail <private>"),
    ("from 10.1.2.3 port 22", "from <private> port 22"),
    ("fe80:0:0:0:a1b2:c3d4:e5f6:1", "<private>"),
    ("link aa:bb:cc:dd:ee:ff up", "link <private> up"),
]


@pytest.mark.parametrize("text", KEPT)
def test_what_helps_stays(text: str) -> None:
    assert told(text) == text


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_what_is_private_goes(text: str, expected: str) -> None:
    assert told(text) == expected


def test_only_listed_variables_stay() -> None:
    given = report(
        environment={
            "ASCEND_HOME_PATH": "/usr/local/Ascend",
            "AWS_SECRET": "x",
            "ASCEND_INSTALL_PATH": "/opt",
        }
    )
    assert redact(given, 1, ()).environment == {"ASCEND_HOME_PATH": "/usr/local/Ascend"}
    assert not any("SECRET" in name or "TOKEN" in name for name in REPORTED)


def test_only_listed_facts_about_the_host_stay() -> None:
    given = replace(samples.HEALTHY, host={**samples.HEALTHY.host, "serial": "X1"})
    host = redact(given, 4, ()).host
    assert host["name"] == "machine 4"
    assert set(host) == set(samples.HEALTHY.host)


def test_the_machine_s_own_name_goes_wherever_it_stands() -> None:
    given = report(result("A-001", summary="node-17 has no NPU"))
    assert redact(given, 1, ()).results[0].summary == "<private> has no NPU"


def test_numbers_stay() -> None:
    assert redact(samples.HEALTHY, 1, {"alice"}).results[-1].numbers == samples.numbers()


def test_the_names_of_this_user_and_machine_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setenv("SUDO_USER", "bob")
    assert {"alice", "bob"} <= names_of_this_machine()


def test_a_bundle_has_every_format_and_explains_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "names_of_this_machine", lambda: frozenset({"alice"}))
    secret = Evidence("log", "plog", "alice ran /home/alice/x with token=abc on node-17")
    given = report(result("A-001", Status.FAIL, evidence=(secret,)), exit_status=1)
    files = unpacked(given)
    assert set(files) == {
        f"pyaclnn-doctor/{name}"
        for name in ("README.txt", "report.txt", "report.html", "report.json", "report.xml")
    }
    for text in files.values():
        assert "alice" not in text
        assert "abc" not in text
        assert "node-17" not in text
    assert Report.from_text(files["pyaclnn-doctor/report.json"]).exit_status == 1
    assert "Taken out" in files["pyaclnn-doctor/README.txt"]


def test_a_bundle_of_a_fleet_numbers_the_machines() -> None:
    second = replace(samples.HEALTHY, host={"name": "node-18"})
    files = unpacked(samples.BROKEN, second)
    assert "machine 2" in files["pyaclnn-doctor/report.txt"]
    assert "node-1" not in "".join(files.values())


def test_a_bundle_tells_nothing_by_its_own_header() -> None:
    data = as_bundle([samples.HEALTHY])
    assert data == as_bundle([samples.HEALTHY])
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        assert {(e.uid, e.gid, e.uname, e.gname) for e in archive} == {(0, 0, "", "")}


# ---- secrets ------------------------------------------------------------------------------------

SECRETS = [
    ("cloning with ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_"),
    ("AWS AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIA|wJal"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "eyJ"),
    ("using sk-proj-abc123def456ghi789", "abc123"),
    ("hf_AbCdEfGhIjKlMnOpQrStUvWxYz", "AbCd"),
    ("mysql --password hunter", "hunter"),
    ("mysql -phunter2", "hunter"),
    ("passphrase: correct horse battery", "correct|horse|battery"),
    ("Server=db;Uid=sa;Pwd=s3cret;", "s3cret"),
    ("DB_PASS=s3cret", "s3cret"),
    ("Authorization: Token abcdef0123456789abcdef", "abcdef"),
    ("Authorization: ApiKey abcdef0123456789abcdef", "abcdef"),
    ("Cookie: session=abcdef0123456789; id=7", "session|id=7"),
    ('"client_secret": "abcdef 0123 rest"', "abcdef|rest"),
    ("token='abc def ghi'", "abc|def|ghi"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIB\n-----END RSA PRIVATE KEY-----", "MII"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIB, cut short", "MII|short"),
    ("git@intern.example.com:team/secret-project.git", "intern|team|project"),
    ("connect to fe80::1 and 2001:db8::7 port 22", "fe80|2001"),
    ("cannot resolve node17.cluster.intern.example.com", "node17|intern"),
    ("alice2@node17:", "alice|node17"),
    ("/home/bob smith/secret project/x.py", "smith|project"),
    ("~bob/y and ../../home/bob/x", "bob"),
    ("C:\\Users\\bob\\x", "bob"),
    ("/opt/acme-project/lib/libx.so", "acme"),
    ("/usr/local/acme/bob/lib", "acme|bob"),
    ("/home/bob\\ x/yes", "bob|yes"),
    ("/home/bob/a=b/secret", "bob|secret"),
    ("00-1A-2B-3C-4D-5E and 550e8400-e29b-41d4-a716-446655440000", "1A|e29b"),
]


@pytest.mark.parametrize(("text", "private"), SECRETS)
def test_nothing_of_a_secret_stays(text: str, private: str) -> None:
    assert not re.search(private, told(text))


USEFUL = [
    "/opt/Ascend/cann/lib64/libnnopbase.so and /usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "undefined symbol: _ZN3acl12GetDeviceNumERjAbCd0123456789xyzABCDEFGH, version GLIBC_2.34",
    "memcpy@GLIBC_2.14 and aclInit@@CANN_8",
    "DEV-103@0 did not pass; pyaclnn.health.child.probe wrote it",
    "std::vector<ge::Tensor> add::face",
    "max 3/4 of and/or; Ascend910B3, CANN 8.1.RC1.alpha002",
    "libascend_hal.so: cannot open shared object file: No such file or directory",
    "PASS, 12 of 12 outputs; the password is not known",
]


@pytest.mark.parametrize("text", USEFUL)
def test_what_a_diagnosis_needs_stays(text: str) -> None:
    assert told(text) == text


REPEATED = [
    "A",
    "a1",
    "-",
    "a.",
    "a@",
    "1:",
    "::",
    "../",
    "/a b/",
    "token",
    "password: ",
    "--x-",
    "sk-",
    "eyJaaaaaa.",
    "\\a",
    "'",
    " ",
    "Aa1/",
    "-----BEGIN PRIVATE KEY-----",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("unit", REPEATED)
def test_redaction_takes_time_in_proportion_to_the_text(unit: str) -> None:
    begun = time.process_time()
    without_private(unit * (60_000 // len(unit)))
    assert time.process_time() - begun < 4


def test_variables_keep_only_what_has_their_form() -> None:
    secret = {
        "LD_LIBRARY_PATH": "/home/z/lib:/opt/acme-SECRET/lib:relative/SECRET:/usr/lib",
        "ASCEND_CUSTOM_OPP_PATH": "/x/SECRET:https://u:SECRET@h/x",
        "ASCEND_GLOBAL_LOG_LEVEL": "token=SECRET",
        "ACLNN_CACHE_LIMIT": "pass phrase SECRET",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "DB_PASS=SECRET",
        "ASCEND_VISIBLE_DEVICES": "ghp_SECRETFOURTEEN0",
        "TOOLCHAIN_HOME": "C:\\Users\\z\\SECRET",
        "DISABLE_L2_CACHE": '{"password": "SECRET"}',
        "ASCEND_RT_VISIBLE_DEVICES": "0,1, 3",
    }
    kept = redact(report(environment=secret), 1, ()).environment
    assert set(kept) == set(secret)
    assert "SECRET" not in "".join(kept.values())
    assert kept["ASCEND_RT_VISIBLE_DEVICES"] == "0,1, 3"
    assert kept["LD_LIBRARY_PATH"].endswith(":/usr/lib")


def test_what_a_check_says_of_a_variable_is_hidden_where_the_variable_is() -> None:
    phrase = "pass phrase SECRETFIFTEEN"
    said = replace(samples.BROKEN.results[0], summary=f"it is {phrase!r}")
    made = report(said, environment={"ACLNN_CACHE_LIMIT": phrase})
    assert "SECRETFIFTEEN" not in redact(made, 1, ()).to_text()
