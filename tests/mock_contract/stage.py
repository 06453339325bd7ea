# SPDX-License-Identifier: Apache-2.0
"""Turns the snippets of the rules into one program that can run each of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.releases import RELEASES
from pyaclnn.mock.contract import RULES, Rule

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

__all__ = ["HERE", "SIDES", "source", "together", "write_program"]

HERE = Path(__file__).parent
SIDES = ("wrong", "right")

_MAIN = """
#ifdef __cplusplus
extern "C" {
#endif
size_t pyaclnn_mock_violation_count(void);
size_t pyaclnn_mock_violation_read(size_t index, char *text, size_t capacity);
void pyaclnn_mock_violation_clear(void);
#ifdef __cplusplus
}
#endif

static void print_violations(const char *name)
{
    char text[8192];
    for (size_t i = 0; i < pyaclnn_mock_violation_count(); i++) {
        pyaclnn_mock_violation_read(i, text, sizeof text);
        printf("%s\\t%s", name, text);
    }
    pyaclnn_mock_violation_clear();
}

/* Without arguments: all cases one after the other; otherwise one case, to the process's end. */
int main(int count, char **names)
{
    must(aclInit(NULL));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if (count > 1 ? strcmp(names[1], CASES[i].name) != 0 : CASES[i].alone) {
            continue;
        }
        stage_open();
        CASES[i].run();
        if (!CASES[i].alone) {
            stage_close();
        }
        if (count == 1) {
            print_violations(CASES[i].name);
        } else {
            if (!CASES[i].alone) {
                must(aclrtResetDevice(0));
                must(aclFinalize());
            }
            return 0;
        }
    }
    print_violations("the stage");
    return 0;
}
"""


def _functions() -> Iterator[str]:
    for rule in RULES:
        for side in SIDES:
            name = f"{rule.id}-{side}".replace("-", "_")
            body = "\n".join(f"    {line}" for line in getattr(rule, side).splitlines())
            yield _from(rule, f"static void {name}(void)\n{{\n{body}\n}}\n")


def _rows() -> Iterator[str]:
    for rule in RULES:
        for side in SIDES:
            name = f"{rule.id}-{side}"
            alone = "true" if rule.alone else "false"
            yield _from(rule, f'    {{"{name}", {name.replace("-", "_")}, {alone}}},')


def _from(rule: Rule, text: str) -> str:
    """Keep what a rule needs from the compiler of an older release."""
    return f"#if ACL_STUBS_CANN >= {RELEASES[rule.since].headers}\n{text}\n#endif"


def source() -> str:
    """The C program of all snippets."""
    table = (
        "static const struct {\n    const char *name;\n    void (*run)(void);\n    bool alone;\n"
        "} CASES[] = {\n" + "\n".join(_rows()) + "\n};"
    )
    return "\n".join(['#include "stage.h"', "", *_functions(), table, _MAIN])


def write_program(folder: Path) -> Path:
    """Write the program to a folder, as C that is C++ as well."""
    path = folder / "rules.c"
    path.write_text(source(), encoding="utf-8")
    return path


def together(result: subprocess.CompletedProcess[str]) -> dict[str, list[dict[str, Any]]]:
    """The violations of a run of all cases, by the case's name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in result.stdout.splitlines():
        name, _, text = line.partition("\t")
        found.setdefault(name, []).append(json.loads(text))
    return found
