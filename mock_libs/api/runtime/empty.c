/* SPDX-License-Identifier: Apache-2.0 */
/* A library that programs link for what it brings along: it names one symbol of that. */

/* A linker that leaves out what nobody calls is to keep it. */
#if defined(__has_attribute) && __has_attribute(retain)
#define KEPT __attribute__((used, retain))
#else
#define KEPT __attribute__((used))
#endif

extern const char BROUGHT[];
KEPT static const char *const brought = BROUGHT;
