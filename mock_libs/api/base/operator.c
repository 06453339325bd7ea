/* SPDX-License-Identifier: Apache-2.0 */
/* Both phases of every operator, behind the gate. */
#include "operator.h"

#include <string.h>

#include "gate.h"
#include "phase1.h"
#include "phase2.h"
#include "registry.h"
#include "words.h"

void mock_operators_add(const struct mock_operators *library)
{
    mock_functions_register(library->functions, 2 * library->count, NULL);
}

void mock_operators_drop(const struct mock_operators *library)
{
    mock_functions_unregister(library->functions);
}

/* The pointers that phase 1 follows into the host's memory: strings, and where it answers. */
static size_t host_pointers(const struct mock_operator *operator, const union mock_word *words,
                            struct mock_argument *checked)
{
    static const char *const TAIL[] = {"workspaceSize", "executor"};
    const char *name = operator->parameters;
    size_t count = 0, place = 0;
    for (; operator->kinds[place] != '\0'; place++) {
        if (operator->kinds[place] == 's') {
            checked[count++] = (struct mock_argument){name, words[place].pointer, true, false, 0};
        }
        name += strlen(name) + 1;
    }
    for (size_t i = 0; i < 2; i++) {
        checked[count++] = (struct mock_argument){
            TAIL[i], words[place + i].pointer, true, false, 0};
    }
    return count;
}

static aclnnStatus ask(const struct mock_operator *operator, const union mock_word *words)
{
    const size_t count = strlen(operator->kinds);
    struct mock_call call;
    mock_call_begin(&call, operator->name);
    mock_words_send(&call, operator->kinds, operator->parameters, words);
    return mock_phase1(&call, (uint64_t *)(uintptr_t)words[count].bits,
                       (aclOpExecutor **)(uintptr_t)words[count + 1].bits);
}

int mock_operator_phase1(const struct mock_operators *library, uint32_t number,
                         const void *caller, const union mock_word *words)
{
    const struct mock_operator *operator = &library->operators[number / 2];
    struct mock_frame frame;
    struct mock_argument checked[MOCK_MAX_WORDS + 2];
    const size_t count = host_pointers(operator, words, checked);
    if (mock_gate_open(&frame, &library->functions[number], checked, count, caller)) {
        return frame.code;
    }
    return mock_gate_close(&frame, ask(operator, words));
}

int mock_operator_phase2(const struct mock_operators *library, uint32_t number,
                         const void *caller, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream)
{
    struct mock_frame frame;
    if (mock_gate_open(&frame, &library->functions[number], NULL, 0, caller)) {
        /* CANN consumes the executor also when phase 2 fails. */
        mock_phase2_abandon(executor);
        return frame.code;
    }
    return mock_gate_close(&frame, mock_phase2(library->operators[number / 2].name, workspace,
                                               workspace_size, executor, stream));
}

int mock_operator_arrive(const struct mock_operators *library, uint32_t number,
                         const struct mock_registers *registers)
{
    union mock_word words[MOCK_MAX_WORDS + 2];
    if (!library->functions[number].runs) {
        mock_words_read(registers, library->operators[number / 2].kinds, words);
        return mock_operator_phase1(library, number, registers->caller, words);
    }
    mock_words_read(registers, "QQ", words);
    return mock_operator_phase2(library, number, registers->caller,
                                (void *)(uintptr_t)words[0].bits, words[1].bits,
                                (aclOpExecutor *)(uintptr_t)words[2].bits,
                                (aclrtStream)(uintptr_t)words[3].bits);
}
