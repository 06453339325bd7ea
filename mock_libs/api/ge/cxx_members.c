/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of operators of graphs, which nothing here compiles. */
#include "graph/members.h"

#include <string.h>

#include "error_message.h"

/* Ignores the creator: only a graph compiler would ask for it. */
void _ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE(
    void *self, const char *type, const void *creator)
{
    (void)self;
    (void)type;
    (void)creator;
}

/* Return an empty std::shared_ptr, which the refused caller destroys. */
static void leave_empty(void *shared, const char *function)
{
    if (shared != NULL) {
        memset(shared, 0, 2 * sizeof(void *));
    }
    mock_unimplemented(function);
}

/* Behind the table of virtual functions, which the class derived from it sets. */
static void *shared_of(void *operator_)
{
    return operator_ == NULL ? NULL : (void **)operator_ + 1;
}

void _ZN2ge12AscendStringC1EPKc(void *self, const char *text)
{
    (void)text;
    leave_empty(self, "_ZN2ge12AscendStringC1EPKc");
}

void _ZN2ge8OperatorC2EPKcS2_(void *self, const char *name, const char *type)
{
    (void)name;
    (void)type;
    leave_empty(shared_of(self), "_ZN2ge8OperatorC2EPKcS2_");
}

void _ZN2ge8OperatorC2ERKNS_12AscendStringES3_(void *self, const void *name,
                                                         const void *type)
{
    (void)name;
    (void)type;
    leave_empty(shared_of(self), "_ZN2ge8OperatorC2ERKNS_12AscendStringES3_");
}

void _ZN2ge5GraphC1EPKc(void *self, const char *name)
{
    (void)name;
    leave_empty(self, "_ZN2ge5GraphC1EPKc");
}
