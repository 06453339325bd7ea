/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of errors and the last error of a thread. */
#include "error_message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

enum { TEXT_BYTES = 4096 };

/* One text is filled while the other one, already fetched, stays valid for its reader. */
static _Thread_local char texts[2][TEXT_BYTES];
static _Thread_local int filling;
static _Thread_local aclError last_error;

/* Codes of the ACL layer (1000xx, 2000xx, 5000xx) and of aclnn are not runtime errors. */
static bool is_runtime_code(aclError code)
{
    return code / 1000 % 100 == 7;
}

static const char *message_code(aclError code)
{
    if (is_runtime_code(code)) {
        return "EE1001";
    }
    return code == ACL_ERROR_INVALID_PARAM ? "EH0001" : "EZ9999";
}

/* "EZ1001: ": two capitals, four digits. */
enum { CODE_BYTES = 8 };

static bool has_message_code(const char *text)
{
    for (int i = 0; i < CODE_BYTES; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool fits = i < 2   ? isupper(byte) != 0
                          : i < 6 ? isdigit(byte) != 0
                                  : byte == ": "[i - 6];
        if (!fits) {
            return false;
        }
    }
    return true;
}

const char *mock_message_body(const char *text)
{
    return has_message_code(text) ? text + CODE_BYTES : text;
}

aclError mock_fail(aclError code, const char *format, ...)
{
    char *text = texts[filling];
    time_t now = time(NULL);
    struct tm local;
    char stamp[32] = "";
    if (localtime_r(&now, &local) != NULL) {
        strftime(stamp, sizeof stamp, "%Y-%m-%d-%H:%M:%S", &local);
    }
    char plain[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plain, sizeof plain, format, arguments);
    va_end(arguments);
    /* A text of the device begins with a code of its own. */
    const bool coded = has_message_code(plain);
    /* Every other one begins with the function's name. */
    const char *function = coded ? NULL : mock_origin_current().function;
    const bool named = function == NULL || strstr(plain, function) != NULL;
    snprintf(text, TEXT_BYTES, "%.6s: [PID: %ld] %s simulated NPU: %.64s%s%.3800s",
             coded ? plain : message_code(code), (long)getpid(), stamp, named ? "" : function,
             named ? "" : ": ", coded ? plain + CODE_BYTES : plain);
    if (is_runtime_code(code)) {
        last_error = code;
    }
    return code;
}

/* Alternatives to functions that refuse. */
static const struct {
    const char *function, *instead;
} ALTERNATIVES[] = {
#include "alternatives.inc"
};

int mock_unimplemented(const char *function)
{
    const char *instead = NULL;
    for (size_t i = 0; instead == NULL && i < sizeof ALTERNATIVES / sizeof ALTERNATIVES[0]; i++) {
        instead = strcmp(function, ALTERNATIVES[i].function) == 0 ? ALTERNATIVES[i].instead : NULL;
    }
    return mock_fail(MOCK_NOT_IMPLEMENTED,
                     "%s is declared by CANN but not implemented by the simulated NPU%s%s", function,
                     instead == NULL ? "" : ": ", instead == NULL ? "" : instead);
}

const char *mock_message_take(void)
{
    char *text = texts[filling];
    if (text[0] == '\0') {
        return NULL;
    }
    filling = 1 - filling;
    texts[filling][0] = '\0';
    return text;
}

aclError mock_last_error(bool forget)
{
    const aclError code = last_error;
    last_error = forget ? ACL_SUCCESS : code;
    return code;
}
