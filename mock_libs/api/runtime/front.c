/* SPDX-License-Identifier: Apache-2.0 */
/* A filter library: its symbols serve the linker, and the loader resolves them in the libraries
 * behind it (DT_AUXILIARY, see pyaclnn/bindgen/front.py). Its code never runs. */

__attribute__((used)) static void nowhere(void)
{
    __builtin_trap();
}

#define EXPORTED(name) __attribute__((visibility("default"), alias("nowhere"))) void name(void);
/* A table of operators does as well. */
#define OPERATOR(operator, kinds, names, parameters, words) \
    EXPORTED(operator##GetWorkspaceSize) EXPORTED(operator)
#include EXPORTS
