/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function of any parameters by the calling conventions of x86-64 (System V) and aarch64
 * (AAPCS64). Both give out integer and vector registers independently of each other and put the rest
 * on the stack in order, eight bytes each. So a function type that takes every register and some
 * stack serves all: registers that a function does not look at do no harm, nor do surplus words on
 * the stack, which the caller takes away. Integers are given extended to 64 bits, which both allow. */
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__LP64__) && !defined(_WIN32)
enum { CONVENTION = 1, INTEGERS = 6 };
#define EACH_INTEGER(item) item(0), item(1), item(2), item(3), item(4), item(5)
#elif defined(__aarch64__) && defined(__LP64__) && defined(__AARCH64EL__) && !defined(__APPLE__)
enum { CONVENTION = 1, INTEGERS = 8 };
#define EACH_INTEGER(item) item(0), item(1), item(2), item(3), item(4), item(5), item(6), item(7)
#else
enum { CONVENTION = 0, INTEGERS = 1 }; /* not known: see struct binding_operator */
#define EACH_INTEGER(item) item(0)
#endif
enum { VECTORS = 8, STACK = 64 };

#define EACH_VECTOR(item) item(0), item(1), item(2), item(3), item(4), item(5), item(6), item(7)
#define EACH_OF_8(item, from) item(from), item(from + 1), item(from + 2), item(from + 3), \
    item(from + 4), item(from + 5), item(from + 6), item(from + 7)
#define EACH_OF_16(item, from) EACH_OF_8(item, from), EACH_OF_8(item, from + 8)

/* Arguments of a called function, in the order of its parameters. */
struct call_arguments {
    uint64_t integers[INTEGERS];
    double vectors[VECTORS];
    uint64_t stack[STACK];
    uint32_t integer_count, vector_count, stack_count;
};

static inline void add_integer(struct call_arguments *to, uint64_t value)
{
    if (to->integer_count < INTEGERS) {
        to->integers[to->integer_count++] = value;
    } else {
        to->stack[to->stack_count++] = value;
    }
}

/* A float lies in the low half of its register, or of its word on the stack. */
static inline void add_real(struct call_arguments *to, double value, char kind)
{
    uint64_t bits = 0;
    if (kind == 'f') {
        const float narrow = (float)value;
        memcpy(&bits, &narrow, sizeof narrow);
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    if (to->vector_count < VECTORS) {
        memcpy(&to->vectors[to->vector_count++], &bits, sizeof bits);
    } else {
        to->stack[to->stack_count++] = bits;
    }
}

#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_OF(i) with->integers[i]
#define VECTOR_OF(i) with->vectors[i]
#define STACK_OF(i) with->stack[i]
#define REGISTER_TYPES EACH_INTEGER(INTEGER_TYPE), EACH_VECTOR(VECTOR_TYPE)
#define REGISTERS EACH_INTEGER(INTEGER_OF), EACH_VECTOR(VECTOR_OF)
typedef uint64_t with_0(REGISTER_TYPES);
typedef uint64_t with_8(REGISTER_TYPES, EACH_OF_8(INTEGER_TYPE, 0));
typedef uint64_t with_16(REGISTER_TYPES, EACH_OF_16(INTEGER_TYPE, 0));
typedef uint64_t with_64(REGISTER_TYPES, EACH_OF_16(INTEGER_TYPE, 0), EACH_OF_16(INTEGER_TYPE, 16),
                    EACH_OF_16(INTEGER_TYPE, 32), EACH_OF_16(INTEGER_TYPE, 48));

/* The one place that calls a function by another type than its own, on purpose. Of a narrower result the
 * upper bits mean nothing. */
#if defined(__clang__)
__attribute__((no_sanitize("function", "cfi")))
#endif
static inline uint64_t call_with(const void *function, const struct call_arguments *with)
{
    union {
        const void *address;
        with_0 *none;
        with_8 *few;
        with_16 *some;
        with_64 *all;
    } as = {function};
    if (with->stack_count == 0) {
        return as.none(REGISTERS);
    }
    if (with->stack_count <= 8) {
        return as.few(REGISTERS, EACH_OF_8(STACK_OF, 0));
    }
    if (with->stack_count <= 16) {
        return as.some(REGISTERS, EACH_OF_16(STACK_OF, 0));
    }
    return as.all(REGISTERS, EACH_OF_16(STACK_OF, 0), EACH_OF_16(STACK_OF, 16),
                  EACH_OF_16(STACK_OF, 32), EACH_OF_16(STACK_OF, 48));
}
