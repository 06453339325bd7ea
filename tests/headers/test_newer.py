# SPDX-License-Identifier: Apache-2.0
"""The error of a function that the chosen release lacks names the release that has it."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.signatures import signatures
from pyaclnn.mock import build_home, cflags, includedir
from tests.releases import NEWEST, OLDEST

from .stub_tree import LANGUAGES, compiler

if TYPE_CHECKING:
    from pathlib import Path

NEWER = {s.name: s.header for s in signatures().values() if s.since == NEWEST}
USED = ["aclrtDeviceGetUuid", "aclnnAdaLayerNorm", "aclnnAdaLayerNormGetWorkspaceSize"]
SAID = (
    "{0} is not in CANN 8.1, which is chosen here (-DACL_STUBS_CANN=801); CANN 9.1 has it "
    "(-DACL_STUBS_CANN=901, pyaclnn mock cflags --cann 9.1)"
)
# The first folder contains the sources, which belong to no release.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiled(
    language: str, source: str, flags: list[str], *more: str
) -> subprocess.CompletedProcess[str]:
    command, *rest = compiler(language)
    kind = "c++" if language.startswith("c++") else "c"
    line = [command, *(r for r in rest if not r.startswith("-I")), *flags, *more, "-x", kind]
    return subprocess.run(
        [*line, "-fsyntax-only", "-"], input=source, text=True, capture_output=True, check=False
    )


def program(*names: str) -> str:
    includes = "".join(f'#include "{header}"\n' for header in {NEWER[name] for name in names})
    uses = "".join(f"    (void){name}(0, 0, 0);\n" for name in names)
    return f"{includes}int main(void)\n{{\n{uses}    return 0;\n}}\n"


def test_there_are_functions_of_every_kind() -> None:
    assert set(USED) <= set(NEWER)
    assert len(NEWER) > 400


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiler_names_the_function_and_the_release(language: str) -> None:
    said = compiled(language, program(*USED), cflags()).stderr
    for name in USED:
        assert SAID.format(name) in said, said


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_does_so_of_every_newer_function(language: str) -> None:
    said = compiled(language, program(*NEWER), cflags(), "-fmax-errors=0").stderr
    missing = [name for name in NEWER if SAID.format(name) not in said]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_uses_none_of_them_hears_nothing(language: str) -> None:
    source = "".join(f'#include "{header}"\n' for header in sorted(set(NEWER.values())))
    strict = [] if language.startswith("c++") else ["-Wstrict-prototypes"]
    done = compiled(language, source, cflags(), *WARNINGS, *strict)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_may_declare_one_itself_and_look_for_it_at_run_time(language: str) -> None:
    # As programs for several releases do; a member of the same name is nobody's business.
    source = (
        '#include "acl/acl.h"\n'
        "struct table { aclError (*aclrtDeviceGetUuid)(int32_t, void *); };\n"
        "int use(struct table *t) { return t->aclrtDeviceGetUuid(0, 0); }\n"
    )
    done = compiled(language, source, cflags(), *WARNINGS)
    assert (done.returncode, done.stderr) == (0, "")


RELEASE_OF = '#include "acl/acl.h"\n#if ACL_STUBS_CANN != {}\n#error "another release"\n#endif\n'


def test_the_folder_alone_is_of_the_release_that_is_simulated_by_default() -> None:
    done = compiled("c11", RELEASE_OF.format(801), [f"-I{includedir()}"])
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(("release", "level"), [(OLDEST, 801), (NEWEST, 901)])
def test_the_headers_of_a_home_declare_its_release(
    release: str, level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_CANN", release)
    home = build_home(tmp_path / "home")
    include = [f"-I{home / 'include'}"]
    done = compiled("c11", RELEASE_OF.format(level), include)
    assert done.returncode == 0, done.stderr
    done = compiled("c11", program(*USED[1:]), include)
    assert (SAID.format(USED[1]) in done.stderr) == (release == OLDEST), shlex.join(include)
    text = (home / "ascend_toolkit_install.info").read_text(encoding="utf-8")
    assert re.search(rf"^version={re.escape(release)}\.(RC1|0)$", text, re.MULTILINE)
    told = {path.read_text("utf-8") for path in home.glob("share/info/*/version.info")}
    assert told == (set() if release == OLDEST else {"Version=9.1.0\n"})
