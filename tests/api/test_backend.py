# SPDX-License-Identifier: Apache-2.0
"""Choice of the backend, and the error when there is none."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann import library, search
from pyaclnn.cann.library import backend, select_backend
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import libdir
from tests.releases import NEWEST

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[str]"]

NOWHERE = {
    "ASCEND_HOME_PATH": None,
    "ASCEND_TOOLKIT_HOME": None,
    "ASCEND_INSTALL_PATH": None,
    "ASCEND_CUSTOM_OPP_PATH": None,
    "ASCEND_OPP_PATH": None,
}
REPORT = """
from pyaclnn.base.errors import AclError
from pyaclnn.cann.library import backend, select_backend
try:
    {action}
except AclError as error:
    print(type(error).__name__, error, sep="\\n")
"""
HINT = (
    "Hint: on a machine with CANN, source the set_env.sh of its installation, or name the "
    "directory of its libraries in PYACLNN_BACKEND or pyaclnn.select_backend(); LD_LIBRARY_PATH is "
    "searched last. Without an NPU, choose the simulated one: PYACLNN_BACKEND=mock or "
    'pyaclnn.select_backend("mock").\n'
)
ARCHITECTURE = f"{platform.machine()}-linux"


def absent(path: object) -> str:
    return f"  {path}: cannot open shared object file: No such file or directory\n"


def test_this_room_runs_on_the_simulated_npu_and_its_library_says_so() -> None:
    info = backend()
    assert info.name == "mock"
    assert info.directory == libdir()
    assert [path.name for path in info.files["base"]] == ["libnnopbase.so"]
    assert select_backend("mock") is info
    assert select_backend(libdir()) is info


def test_importing_opens_no_library(run_python: Run) -> None:
    done = run_python(
        "from pathlib import Path\n"
        "import pyaclnn, pyaclnn.ops, pyaclnn.cann.raw\n"
        "assert pyaclnn.raw.ACL_FLOAT16 == 1\n"
        "assert 'libascendcl' not in Path('/proc/self/maps').read_text()\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_found_and_nothing_chosen_lists_every_folder_and_says_how_to_choose(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        REPORT.format(action="backend()"), **NOWHERE, PYACLNN_BACKEND=None, HOME=str(tmp_path)
    )
    roots = [
        tmp_path / "Ascend/cann",
        tmp_path / "Ascend/ascend-toolkit/latest",
        "/usr/local/Ascend/cann",
        "/usr/local/Ascend/ascend-toolkit/latest",
        "/opt/Ascend/cann",
        Path(sys.prefix) / "Ascend/cann",
    ]
    assert done.stdout == (
        "BackendNotFoundError\n"
        "No backend was chosen, and no installed CANN was found.\n"
        "Tried:\n" + "".join(f"  {root}: No such file or directory\n" for root in roots) + HINT
    ), done.stderr


def test_a_wrong_backend_is_named_with_who_chose_it(run_python: Run) -> None:
    done = run_python(REPORT.format(action="backend()"), PYACLNN_BACKEND="/no/where")
    assert done.stdout == (
        "BackendNotFoundError\n"
        "PYACLNN_BACKEND=/no/where found no usable libraries.\n"
        "Tried:\n"
        "  /no/where: No such file or directory\n" + HINT
    ), done.stderr


def test_a_folder_without_libraries_is_told_with_every_path_tried(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(REPORT.format(action="backend()"), PYACLNN_BACKEND=str(tmp_path))
    assert done.stdout == (
        "BackendNotFoundError\n"
        f"PYACLNN_BACKEND={tmp_path} found no usable libraries.\n"
        "Tried:\n"
        + "".join(
            absent(tmp_path / name)
            for name in (
                "libascendcl.so",
                "libacl_rt.so",
                "lib64/libascendcl.so",
                "lib64/libacl_rt.so",
                f"{ARCHITECTURE}/lib64/libascendcl.so",
                f"{ARCHITECTURE}/lib64/libacl_rt.so",
            )
        )
        + HINT
    ), done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("missing", ["libnnopbase.so", "libopapi.so", "libascendcl.so"])
def test_missing_libraries_are_named(run_python: Run, tmp_path: Path, missing: str) -> None:
    for path in (simulator(), *libdir().glob("*.so")):
        if path.name != missing:
            shutil.copy(path, tmp_path)
    done = run_python(REPORT.format(action=f"select_backend({str(tmp_path)!r})"))
    findings = {
        "libascendcl.so": absent(tmp_path / "libascendcl.so") + absent(tmp_path / "libacl_rt.so"),
        "libnnopbase.so": absent(tmp_path / "libnnopbase.so"),
        "libopapi.so": f"  {tmp_path}: has neither libopapi.so nor libopapi_*.so\n",
    }
    assert done.stdout == (
        "BackendNotFoundError\n"
        f"select_backend({str(tmp_path)!r}) found no usable libraries.\n"
        "Tried:\n" + findings[missing] + HINT
    ), done.stderr


def test_a_library_that_is_none_is_reported_in_the_loaders_words(
    run_python: Run, tmp_path: Path
) -> None:
    (tmp_path / "libascendcl.so").write_bytes(b"not a library")
    done = run_python(REPORT.format(action="backend()"), PYACLNN_BACKEND=str(tmp_path))
    assert f"  {tmp_path}/libascendcl.so: file too short\n" in done.stdout, done.stderr


def test_the_simulated_npu_is_never_taken_for_cann(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "lib64").symlink_to(libdir())
    environment = {**NOWHERE, "ASCEND_HOME_PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = run_python(REPORT.format(action="backend()"), **environment, PYACLNN_BACKEND="cann")
    assert done.stdout.startswith(
        "BackendNotFoundError\n"
        "PYACLNN_BACKEND=cann found no installed CANN.\n"
        "Tried:\n"
        f"  {tmp_path}/lib64/libascendcl.so: is the simulated NPU, which has to be chosen by name\n"
    ), done.stderr


def test_a_process_has_one_backend(run_python: Run) -> None:
    done = run_python(REPORT.format(action="select_backend('mock'); select_backend('/other')"))
    assert done.stdout == (
        "InvalidArgumentError\n"
        "select_backend(): 'choice' is '/other'; it must be 'mock', because mock is already loaded "
        f"from {libdir()} and a process has one backend.\n"
        "Hint: choose before the first call that needs a device, or start another process.\n"
    ), done.stderr


def test_a_missing_symbol_names_itself_the_files_and_the_version(
    run_python: Run, tmp_path: Path
) -> None:
    for path in (simulator(), libdir() / "libascendcl.so", libdir() / "libnnopbase.so"):
        shutil.copy(path, tmp_path)
    # A library with no operators in it, and one that cannot be opened.
    shutil.copy(libdir() / "libnnopbase.so", tmp_path / "libopapi_nn.so")
    (tmp_path / "libopapi_math.so").write_bytes(b"")
    code = REPORT.format(
        action=f"select_backend({str(tmp_path)!r}); from pyaclnn import raw; raw.aclnnRmsNormGrad"
    )
    done = run_python(code)
    assert done.stdout == (
        "MissingSymbolError\n"
        "aclnnRmsNormGrad is not in the loaded libraries (mock). Searched:\n"
        f"  {tmp_path}/libopapi_math.so: file too short\n"
        f"  {tmp_path}/libopapi_nn.so: does not have it\n"
        "Hint: aclnnop/aclnn_rms_norm_grad.h declares it since CANN 8.1; the simulated NPU has it, "
        "so these libraries are not complete: install them again.\n"
    ), done.stderr


def test_a_function_newer_than_the_simulated_cann_is_told_so(run_python: Run) -> None:
    newer = [name for name, signature in signatures().items() if signature.since == NEWEST]
    assert newer
    done = run_python(REPORT.format(action=f"from pyaclnn import raw; raw.{newer[0]}"))
    assert done.stdout.splitlines()[0] == "MissingSymbolError"
    assert done.stdout.splitlines()[-1].endswith(
        "declares it since CANN 9.1; the simulated NPU simulates CANN 8.1; "
        "PYACLNN_MOCK_CANN=9.1 chooses that one."
    ), done.stderr


@pytest.mark.parametrize(
    ("group", "package"),
    [
        ("runtime", "the runtime package (libascendcl.so)"),
        ("base", "the toolkit package (libnnopbase.so)"),
        (
            "operators",
            "the operator package for this chip (libopapi.so, or libopapi_*.so since 8.5)",
        ),
    ],
)
def test_on_cann_the_package_that_would_have_a_symbol_is_named(group: str, package: str) -> None:
    signature = next(s for s in signatures().values() if s.library == group)
    files: dict[str, tuple[Path, ...]] = {group: (Path("/a/liba.so"), Path("/a/libb.so"))}
    loaded = search.Loaded(library.Backend("cann", Path("/a"), files), "cann")
    loaded.refused[Path("/a/libb.so")] = "file too short"
    error = library._missing(signature, loaded)
    assert str(error) == (
        f"{signature.name} is not in the loaded libraries (cann). Searched:\n"
        "  /a/liba.so: does not have it\n"
        "  /a/libb.so: file too short\n"
        f"Hint: {signature.header} declares it since CANN {signature.since}; an older CANN does "
        f"not have it, nor does one without {package}."
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("choice", "question"),
    [
        ("mokc", "; did you mean 'mock'?"),
        ("MOCK", "; did you mean 'mock'?"),
        ("Cann", "; did you mean 'cann'?"),
        ("zebra", "."),
    ],
)
@pytest.mark.parametrize("chooser", ["PYACLNN_BACKEND", "select_backend"])
def test_a_word_that_is_no_backend_gets_a_suggestion(
    run_python: Run, choice: str, question: str, chooser: str
) -> None:
    if chooser == "select_backend":
        said = f"select_backend({choice!r})"
        done = run_python(REPORT.format(action=said))
    else:
        said = f"PYACLNN_BACKEND={choice}"
        done = run_python(REPORT.format(action="backend()"), PYACLNN_BACKEND=choice)
    assert done.stdout == (
        "BackendNotFoundError\n"
        f"{said} is not 'cann' or 'mock', and there is no such folder{question}\n{HINT}"
    ), done.stderr


def test_a_folder_may_be_named_from_home_or_from_here(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").symlink_to(libdir())
    home = {"HOME": str(tmp_path), "PYACLNN_BACKEND": "~/mine"}
    action = "info = backend(); print(info.name, info.directory, select_backend('~/mine') is info)"
    done = run_python(REPORT.format(action=action), **home)
    assert done.stdout == f"mock {tmp_path}/mine True\n", done.stderr
    action = f"import os; os.chdir({str(tmp_path)!r}); print(select_backend('mine').name)"
    assert run_python(REPORT.format(action=action)).stdout == "mock\n"


def test_the_environment_is_left_as_it_was(run_python: Run) -> None:
    done = run_python(
        "import os; before = dict(os.environ)\n"
        "import numpy as np; from pyaclnn.ops import layer_norm\n"
        "layer_norm(np.ones((2, 4), np.float32), 4)\n"
        "assert dict(os.environ) == before\n",
        PATH=os.environ["PATH"],
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_function_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("aclrtMalloc", "aclnnAddGetWorkspaceSize")
    found = [library.function(name) for name in names]
    monkeypatch.setattr(library, "_resolve", lambda *_: pytest.fail("it was found before"))
    assert [library.function(name) for name in names] == found
