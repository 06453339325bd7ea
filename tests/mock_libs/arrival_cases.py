# SPDX-License-Identifier: Apache-2.0
"""Programs that call operators by their own types, and look what arrives behind the one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.bindgen.catalogued import PHASE_2, TAIL
from pyaclnn.bindgen.declarations import CParameter, Function
from pyaclnn.facts.operators.catalogue import C_TYPES
from tests.bindgen.convention_cases import values_of
from tests.releases import OLDEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["functions_of", "program"]

_HEAD = """
#include <stdio.h>
#include "library.h"
static int wrong, called;
static const void *last;
static union mock_word expected[MOCK_MAX_WORDS + 2];

static void look(int good, uint32_t number)
{
    called++;
    if (!good) {
        wrong++;
        printf("wrong: %u\\n", number);
    }
}

/* In place of the gate: what would go on to it is compared. */
int mock_operator_phase1(const struct mock_operators *library, uint32_t number,
                         const void *caller, const union mock_word *words)
{
    int good = library == &mock_library && caller != NULL;
    size_t i = 0;
    for (const char *kind = library->operators[number / 2].kinds; *kind != 0; kind++, i++) {
        good = good && words[i].bits == expected[i].bits;
    }
    look(good && words[i].pointer == &last && words[i + 1].pointer == &called, number);
    return (int)number;
}

int mock_operator_phase2(const struct mock_operators *library, uint32_t number,
                         const void *caller, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream)
{
    look(library == &mock_library && caller != NULL && workspace == &wrong &&
         workspace_size == ~0ull && (void *)executor == (void *)&called &&
         (const void *)stream == (const void *)&last, number);
    return (int)number;
}

void mock_operators_add(const struct mock_operators *library) { (void)library; }
void mock_operators_drop(const struct mock_operators *library) { (void)library; }
"""
_ARRIVE = """
int mock_operator_arrive(const struct mock_operators *library, uint32_t number,
                         const struct mock_registers *registers)
{
    union mock_word words[MOCK_MAX_WORDS + 2];
    mock_words_read(registers, library->functions[number].runs ? "QQ" :
                    library->operators[number / 2].kinds, words);
    return !library->functions[number].runs
        ? mock_operator_phase1(library, number, registers->caller, words)
        : mock_operator_phase2(library, number, registers->caller, (void *)words[0].pointer,
                               words[1].bits, (aclOpExecutor *)words[2].pointer,
                               (aclrtStream)words[3].pointer);
}
"""


def functions_of(cases: Sequence[str]) -> Iterator[Function]:
    """Both phases of an operator for each signature."""
    for number, kinds in enumerate(cases):
        name, header = f"aclnnCase{number}", "aclnnop/cases.h"
        given = tuple(
            CParameter(C_TYPES[kind if kind != "w" else "t"], f"a{i}")
            for i, kind in enumerate(kinds)
        )
        yield Function(
            f"{name}GetWorkspaceSize", "aclnnStatus", (*given, *TAIL), False, header, OLDEST
        )
        yield Function(name, "aclnnStatus", PHASE_2, False, header, OLDEST)


def program(cases: Sequence[str], *, registers: bool, planted: bool = False) -> str:
    """The source of a program that calls every operator of a table.

    Args:
        cases: Signatures, a letter for each parameter.
        registers: True if the functions leave their arguments in registers.
        planted: True if one value is another one than is looked for.
    """
    lines = [_HEAD, _ARRIVE if registers else ""]
    lines += [f"{function.signature(function.name)};" for function in functions_of(cases)]
    lines.append("int main(void)\n{")
    for number, kinds in enumerate(cases):
        values = values_of(kinds, number)
        for place, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            text = _literal(kind, value)
            field = f".real = {text}" if kind in "df" else f".bits = (uint64_t)({text})"
            lines.append(f"    expected[{place}] = (union mock_word){{{field}}};")
        if planted and kinds:
            lines.append("    expected[0].bits++;")
        given = [f"({C_TYPES[k]})({_literal(k, v)})" for k, v in zip(kinds, values, strict=True)]
        tail = ["(uint64_t *)&last", "(aclOpExecutor **)&called"]
        lines.append(
            f"    if (aclnnCase{number}GetWorkspaceSize({', '.join([*given, *tail])}) != "
            f"{2 * number} || aclnnCase{number}(&wrong, ~0ull, (aclOpExecutor *)&called, &last) "
            f"!= {2 * number + 1}) {{ wrong++; }}"
        )
    lines.append('    printf("%d called, %d wrong\\n", called, wrong);\n    return wrong != 0;\n}')
    return "\n".join(lines)


def _literal(kind: str, value: float) -> str:
    if kind in "df":
        return f"{float(value).hex()}{'f' if kind == 'f' else ''}"
    return f"{int(value)}{'ll' if kind in 'bciyq' else 'ull'}"
