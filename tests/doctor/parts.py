# SPDX-License-Identifier: Apache-2.0
"""The libraries of which broken installations are made: compiled once, from the simulated NPU.

Behind each library with a vendor's name stands a copy of the simulated one under another name,
without the symbol by which the simulated NPU is known.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import includedir, libdir

SOURCES = Path(__file__).parent / "vendor"


@dataclass(frozen=True)
class Parts:
    """A folder of libraries that fit together; copies of them make an installation.

    Attributes:
        old: The libraries by the names of CANN up to 8.5.
        new: The same by the names of CANN 9: ``libacl_rt.so``, ``libopapi_nn.so``.
        driver: The driver's library.
        stub: A stand-in for linking.
        headers: A copy of the headers, to be linked to.
    """

    old: Path
    new: Path
    driver: Path
    stub: Path
    headers: Path


def patched(source: Path, target: Path, *changes: tuple[bytes, bytes]) -> Path:
    """Copy a library with some of its names replaced by others, of the same length at most."""
    image = source.read_bytes()
    for before, after in changes:
        assert len(after) <= len(before)
        assert before + b"\0" in image, f"{source} has no {before!r}"
        image = image.replace(before + b"\0", after.ljust(len(before) + 1, b"\0"))
    target.write_bytes(image)
    target.chmod(0o755)
    return target


def provider(path: Path, *versions: str) -> Path:
    """Compile a library whose function has the last of some versions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [f"{v} {{ {'global: f;' * (v == versions[-1])} }};" for v in versions]
    script = path.with_suffix(".map")
    script.write_text("\n".join(names), encoding="ascii")
    options = [f"-Wl,--version-script={script}"] if versions else []
    code = "int getpid(void); int f(void) { return getpid(); }"  # so it wants a version, too
    shim(path, code, f"-Wl,-soname,{path.name}", *options)
    return path


def build(folder: Path) -> Parts:
    """Build the parts; takes about a second."""
    old, new, driver, stub = (folder / name for name in ("old", "new", "driver", "stub"))
    headers = shutil.copytree(includedir(), folder / "headers")
    for path in (old, new, driver, stub):
        path.mkdir(parents=True)
    hal = driver / "libascend_hal.so"
    shim(hal, "int drvGetDevNum(unsigned *n) { *n = 1; return 0; }", "-Wl,-soname,libascend_hal.so")
    shim(stub / hal.name, "int drvGetDevNum(void) { return 7; }", "-Wl,-soname,libascend_hal.so")
    shim(
        stub / "libascendcl.so",
        "int aclInit(const char *p) { return 100039; } int aclrtMalloc(void) { return 100039; }",
        "-Wl,-soname,libascendcl.so",
    )
    _libraries(old, hal, {})
    _libraries(new, hal, {"libascendcl.so": "libacl_rt.so", "libopapi.so": "libopapi_nn.so"})
    return Parts(old, new, driver, stub, headers)


def _libraries(folder: Path, hal: Path, names: dict[str, str]) -> None:
    runtime = names.get("libascendcl.so", "libascendcl.so")
    mock = libdir()
    shutil.copy(simulator(), folder)
    marker = (b"pyaclnn_mock_marker", b"vendor_build_marker")
    behind = patched(
        mock / "libascendcl.so",
        folder / "libvendorrt.so",
        marker,
        (b"libascendcl.so", b"libvendorrt.so"),
    )
    renamed = (b"libascendcl.so", runtime.encode())
    base = patched(mock / "libnnopbase.so", folder / "libnnopbase.so", renamed)
    operators = patched(
        mock / "libopapi.so", folder / "libvendr.so", (b"libopapi.so", b"libvendr.so")
    )
    origin = "-Wl,-rpath,$ORIGIN"
    shim(
        folder / runtime,
        SOURCES / "runtime.c",
        f"-Wl,-soname,{runtime}",
        "-Wl,--no-as-needed",
        str(behind),
        str(hal),
        origin,
    )
    name = names.get("libopapi.so", "libopapi.so")
    shim(
        folder / name,
        SOURCES / "operators.c",
        f"-Wl,-soname,{name}",
        "-Wl,--no-as-needed",
        str(operators),
        str(base),
        str(folder / runtime),
        origin,
        "-lm",
    )


def shim(target: Path, source: Path | str, *arguments: str, kind: str = "-shared") -> None:
    """Compile a library, or another kind of binary, from a file or from a text."""
    compiler = os.environ.get("CC", "cc")
    code = ["-xc", "-", "-xnone"] if isinstance(source, str) else [str(source)]
    command = [compiler, kind, "-fPIC", "-O1", "-D_GNU_SOURCE", f"-I{includedir()}"]
    done = subprocess.run(
        [*command, *code, "-Wl,--allow-shlib-undefined", *arguments, "-ldl", "-o", str(target)],
        input=source if isinstance(source, str) else None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def place(source: Path, target: Path) -> None:
    """Copy every library of one folder into another."""
    target.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.so"):
        shutil.copy(path, target / path.name)
