/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder in a process: it begins with the environment or with the program's word, and ends
 * with the process, of itself or by a signal. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "arrived.h"
#include "file.h"
#include "known.h"
#include "settings.h"
#include "waits.h"

static const char PATH[] = "PYACLNN_CAPTURE", OPTIONS[] = "PYACLNN_CAPTURE_OPTIONS";

CAPTURE_EXPORT int capture_begin(const char *path, const char *options);
CAPTURE_EXPORT void capture_end(void);

static void on_signal(int number)
{
    capture_await_settled();
    capture_interrupt(number);
    raise(number); /* the handler was reset */
}

/* True if a signal, of which no program has said anything, ends the process and can be caught. */
static bool is_fatal(int number)
{
    static const int OTHERS[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                                 SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        if (number == OTHERS[i]) {
            return false;
        }
    }
    return true;
}

/* On the stack for signals, where a thread has one: its own may be used up. */
static void catch_signals(void)
{
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction old, ours = {.sa_handler = on_signal};
        ours.sa_flags = (int)((unsigned)SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
        if (is_fatal(number) && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            sigaction(number, &ours, NULL);
        }
    }
}

static int begin(const char *path, const char *options)
{
    static bool caught;
    if (!capture_open(path, options)) {
        return 1;
    }
    capture_forget_blocks(); /* which calls that were not recorded may have written or lent */
    if (!__atomic_exchange_n(&caught, true, __ATOMIC_RELAXED)) {
        catch_signals();
    }
    return 0;
}

/* Begin a trace. 0: begun. From now on what is alive is known, for the next trace. */
int capture_begin(const char *path, const char *options)
{
    capture_settings.by_program = true;
    return begin(path, options);
}

static void end(void)
{
    capture_settle();
    capture_close();
}

/* End the trace: what is pending is waited for, within bounds. */
void capture_end(void)
{
    capture_end_contents();
    end();
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv(PATH), *options = getenv(OPTIONS);
    if (path != NULL && *path != '\0') {
        begin(path, options == NULL ? "" : options);
    }
}

__attribute__((destructor)) static void stop(void)
{
    end();
}
