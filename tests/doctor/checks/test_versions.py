# SPDX-License-Identifier: Apache-2.0
"""Versions that a library wants of another are found unmet where the loader refuses it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.dependencies import _newest, close_over
from pyaclnn.health.checks.machine import Machine

if TYPE_CHECKING:
    from pathlib import Path


def _library(path: Path, code: str, *options: str) -> None:
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-xc", "-", "-xnone", *options]
    subprocess.run([*command, "-o", str(path)], input=code, text=True, check=True)


@pytest.mark.parametrize("available", [("V_1", "V_2"), ("V_1",), ("W_9",), ()])
def test_versions_are_wanted_as_the_loader_wants_them(
    tmp_path: Path, available: tuple[str, ...]
) -> None:
    provider, user = tmp_path / "libprovider.so", tmp_path / "libuser.so"
    script = tmp_path / "versions"

    def provide(versions: tuple[str, ...]) -> None:
        names = [f"{v} {{ global: f; }};" if v == versions[-1] else f"{v} {{}};" for v in versions]
        script.write_text("\n".join(names), encoding="ascii")
        options = [f"-Wl,--version-script={script}"] if versions else []
        code = "int getpid(void); int f(void) { return getpid(); }"  # so it wants a version, too
        _library(provider, code, "-Wl,-soname,libprovider.so", *options)

    provide(("V_1", "V_2"))
    _library(user, "int f(void); int g(void) { return f(); }", str(provider), "-Wl,-z,now")
    provide(available)
    machine = Machine(environment={"LD_LIBRARY_PATH": str(tmp_path)})
    unmet = close_over(machine, user).unmet
    program = f"import ctypes; ctypes.CDLL({str(user)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **machine.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [str(gap) in done.stderr for gap in unmet] == [True] * (done.returncode != 0)
    assert bool(unmet) == bool({"V_1", "W_9"} & set(available) and "V_2" not in available)


def test_the_newest_version_has_a_number_behind_its_kind() -> None:
    versions = ["CXXABI_1.3", "CXXABI_1.3.9", "CXXABI_1.3.13", "CXXABI_TM_1", "CXXABI_FLOAT128"]
    assert _newest("CXXABI", versions) == "CXXABI_1.3.13"
    assert _newest("GLIBCXX", versions) == ""
