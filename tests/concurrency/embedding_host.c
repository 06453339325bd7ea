/* SPDX-License-Identifier: Apache-2.0 */
/* Host that embeds Python: runs lines of Python on threads of its own, all at a time, and ends the
 * interpreter afterwards. Its status is that of the lines, or of the end. */
#include <Python.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 16 };

static const char *lines;
static int failures;

static void *run_lines(void *nothing)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    failures += PyRun_SimpleString(lines) == 0 ? 0 : 1;
    PyGILState_Release(state);
    return nothing;
}

/* The arguments: the interpreter whose packages are used, the lines, the number of threads. */
int main(int count, char **arguments)
{
    PyConfig config;
    const int threads = count == 4 ? atoi(arguments[3]) : -1;
    if (threads < 0 || threads > MOST_THREADS) {
        return 2;
    }
    PyConfig_InitPythonConfig(&config);
    PyConfig_SetBytesString(&config, &config.program_name, arguments[1]);
    const PyStatus begun = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(begun)) {
        return 2;
    }
    lines = arguments[2];
    PyThreadState *own = PyEval_SaveThread();
    pthread_t begun_threads[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        pthread_create(&begun_threads[i], NULL, run_lines, NULL);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(begun_threads[i], NULL);
    }
    PyEval_RestoreThread(own);
    if (threads == 0) {
        failures += PyRun_SimpleString(lines) == 0 ? 0 : 1;
    }
    return Py_FinalizeEx() == 0 && failures == 0 ? 0 : 1;
}
