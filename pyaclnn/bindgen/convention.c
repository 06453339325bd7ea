/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of operators by the calling convention: convention.h. */

/* Return whether the calling convention is known, and a call fits it. */
int binding_reaches(const char *kinds)
{
    uint32_t integers = 2, vectors = 0;
    for (; *kinds != '\0'; kinds++) {
        if (*kinds == 'd' || *kinds == 'f') {
            vectors++;
        } else {
            integers++;
        }
    }
    const uint32_t rest = (integers > INTEGERS ? integers - INTEGERS : 0) +
                          (vectors > VECTORS ? vectors - VECTORS : 0);
    return CONVENTION && rest <= STACK;
}

/* Calls phase 1 of an operator that is reached. */
int binding_by_convention(const struct binding_operator *op, const union binding_value *values,
                          uint64_t *size, void **executor)
{
    struct call_arguments with;
    with.integer_count = with.vector_count = with.stack_count = 0;
    for (const char *kind = op->kinds; *kind != '\0'; kind++, values++) {
        if (*kind == 'd' || *kind == 'f') {
            add_real(&with, values->real, *kind);
        } else {
            add_integer(&with, values->bits);
        }
    }
    add_integer(&with, (uint64_t)(uintptr_t)size);
    add_integer(&with, (uint64_t)(uintptr_t)executor);
    return (int)call_with(op->phase1, &with);
}
