/* SPDX-License-Identifier: Apache-2.0 */
/* A library in front of others: its names are there for the linker, and the loader goes on to the
 * libraries behind it (DT_AUXILIARY, see pyaclnn/bindgen/front.py): nobody ever arrives here. */

__attribute__((used)) static void nowhere(void)
{
    __builtin_trap();
}

#define EXPORTED(name) __attribute__((visibility("default"), alias("nowhere"))) void name(void);
/* A table of operators does as well. */
#define OPERATOR(operator, kinds, names, parameters, words) \
    EXPORTED(operator##GetWorkspaceSize) EXPORTED(operator)
#include EXPORTS
