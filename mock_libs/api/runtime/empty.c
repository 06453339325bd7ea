/* SPDX-License-Identifier: Apache-2.0 */
/* A library that programs link for its dependencies: it references one symbol of them. */

/* Keeps a linker from dropping the unused dependency. */
#if defined(__has_attribute) && __has_attribute(retain)
#define KEPT __attribute__((used, retain))
#else
#define KEPT __attribute__((used))
#endif

extern const char BROUGHT[];
KEPT static const char *const brought = BROUGHT;
