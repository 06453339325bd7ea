/* SPDX-License-Identifier: Apache-2.0 */
/* A library that programs link for what it brings along: it names one symbol of that. */

extern const char BROUGHT[];
__attribute__((used)) static const char *const brought = BROUGHT;
