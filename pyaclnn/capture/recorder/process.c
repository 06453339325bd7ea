/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder in a process: it begins with the environment or with the program's word, and ends
 * with the process, of itself or by a signal. */
#include <signal.h>
#include <stdlib.h>

#include "copies.h"
#include "file.h"
#include "known.h"
#include "settings.h"

static const char PATH[] = "PYACLNN_CAPTURE", OPTIONS[] = "PYACLNN_CAPTURE_OPTIONS";

CAPTURE_EXPORT int capture_begin(const char *path, const char *options);
CAPTURE_EXPORT void capture_end(void);

static void on_signal(int number)
{
    capture_interrupt(number);
    raise(number); /* the handler was reset */
}

static void catch_signals(void)
{
    static const int FATAL[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,  SIGILL,  SIGTERM,
                                SIGINT,  SIGHUP,  SIGQUIT, SIGALRM, SIGXCPU};
    for (size_t i = 0; i < sizeof FATAL / sizeof FATAL[0]; i++) {
        struct sigaction old, ours = {.sa_handler = on_signal};
        ours.sa_flags = (int)((unsigned)SA_RESETHAND | SA_NODEFER);
        if (sigaction(FATAL[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            sigaction(FATAL[i], &ours, NULL);
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

/* End the trace: what is pending is waited for, within bounds. */
void capture_end(void)
{
    capture_end_contents();
    capture_close();
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
    capture_close();
}
