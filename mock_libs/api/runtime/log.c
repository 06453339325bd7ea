/* SPDX-License-Identifier: Apache-2.0 */
/* The log of programs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

__attribute__((visibility("default"))) void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...)
{
    static const char *const NAMES[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    const char *threshold = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    const int least = threshold == NULL || threshold[0] == '\0' ? ACL_ERROR : atoi(threshold);
    if ((int)logLevel < least || (int)logLevel < ACL_DEBUG || logLevel > ACL_ERROR) {
        return;
    }
    fprintf(stderr, "[%s] %s:%u %s: ", NAMES[logLevel], file, line, func);
    va_list arguments;
    va_start(arguments, fmt);
    vfprintf(stderr, fmt, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
