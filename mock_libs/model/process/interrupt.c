/* SPDX-License-Identifier: Apache-2.0 */
/* Python signal handlers during a wait. Python runs them between byte codes only, so Ctrl-C would
 * have no effect as long as a call waits. A host without Python has none of the functions. */
#include "interrupt.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

enum { PERIOD_MILLISECONDS = 100 };

/* Functions of Python's stable interface. */
static struct {
    int (*Py_IsInitialized)(void);
    int (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int state);
    void *(*PyErr_Occurred)(void);
    int (*PyErr_CheckSignals)(void);
    void (*PyErr_Fetch)(void **type, void **value, void **trace);
    void (*PyErr_Restore)(void *type, void *value, void *trace);
    int (*Py_AddPendingCall)(int (*function)(void *), void *argument);
} python;

static bool find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

#define FIND(name) find(#name, &python.name)

static bool has_python(void)
{
    static bool found;
    found = found || (FIND(Py_IsInitialized) && FIND(PyGILState_Ensure) &&
                      FIND(PyGILState_Release) && FIND(PyErr_Occurred) &&
                      FIND(PyErr_CheckSignals) && FIND(PyErr_Fetch) && FIND(PyErr_Restore) &&
                      FIND(Py_AddPendingCall));
    return found && python.Py_IsInitialized();
}

/* Of the main thread: the exception of a handler, until Python has it back, and the next time to
 * run handlers. */
static struct {
    void *type, *value, *trace;
} raised;
static struct timespec due;

static int raise_again(void *nothing)
{
    (void)nothing;
    void *const type = raised.type;
    raised.type = NULL;
    python.PyErr_Restore(type, raised.value, raised.trace);
    return -1;
}

static void run_handlers(void)
{
    const int state = python.PyGILState_Ensure();
    if (python.PyErr_Occurred() == NULL && python.PyErr_CheckSignals() != 0) {
        python.PyErr_Fetch(&raised.type, &raised.value, &raised.trace);
        if (python.Py_AddPendingCall(raise_again, NULL) != 0) {
            raise_again(NULL); /* no room: the caller meets an exception it did not expect */
        }
    }
    python.PyGILState_Release(state);
}

bool mock_interrupt_due(void)
{
    const struct timespec now = mock_deadline(0);
    return syscall(SYS_gettid) == getpid() && (raised.type != NULL || mock_is_earlier(&due, &now));
}

bool mock_interrupted(void)
{
    if (raised.type == NULL && has_python()) {
        run_handlers();
        due = mock_deadline(PERIOD_MILLISECONDS);
    }
    return raised.type != NULL;
}
