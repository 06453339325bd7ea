/* SPDX-License-Identifier: Apache-2.0 */
/* Python line of each call. The simulated NPU stores it with its records; a CANN does not get
 * it, and costs nothing. It is found while the caller still holds the GIL, before any other lock is
 * taken. */
#include <stdlib.h>

static const void *(*callers_begin)(const char *file, int line);
static void (*callers_end)(const void *before);
static char *callers_own;
static PyObject *name_of_file, *name_of_back;

/* Register `begin`, which gets the line of every call, and `end`, which gets its result back;
 * both NULL: none. Files whose names begin with one of the lines of `own` are skipped. */
void binding_tell_callers(void *begin, void *end, const char *own)
{
    free(callers_own);
    callers_own = strdup(own);
    if (name_of_file == NULL) {
        const PyGILState_STATE state = PyGILState_Ensure();
        name_of_file = PyUnicode_InternFromString("co_filename");
        name_of_back = PyUnicode_InternFromString("f_back");
        PyGILState_Release(state);
    }
    memcpy(&callers_begin, &begin, sizeof begin);
    memcpy(&callers_end, &end, sizeof end);
}

static int is_own(const char *file)
{
    const char *end;
    for (const char *at = callers_own; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        if (strncmp(file, at, (size_t)(end - at)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Reports a frame, unless it is one of our own. */
static int name_frame(PyFrameObject *frame, const void **before)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *name = PyObject_GetAttr(code, name_of_file);
    const char *file = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
    const int is_named = file == NULL || !is_own(file);
    if (is_named) {
        PyErr_Clear(); /* an unknown name */
        *before = callers_begin(file, PyFrame_GetLineNumber(frame));
    }
    Py_XDECREF(name);
    Py_DECREF(code);
    return is_named;
}

/* Return whether a wrapper calls CANN: all do but most of the binding's own functions. */
static inline int reaches_cann(const char *wrapper)
{
    static const char own[] = "_cffi_f_binding_";
    const char *name = wrapper + sizeof own - 1;
    return strncmp(wrapper, own, sizeof own - 1) != 0 || strncmp(name, "launch", 6) == 0 ||
           strncmp(name, "plan", 4) == 0 || strcmp(name, "give_back") == 0 ||
           strcmp(name, "hold") == 0;
}

/* Called with the GIL, before a call releases it. */
static const void *begin_call(void)
{
    const void *before = NULL;
    int is_named = 0;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL && frame != Py_None && !is_named) {
        is_named = name_frame((PyFrameObject *)frame, &before);
        PyObject *back = is_named ? NULL : PyObject_GetAttr(frame, name_of_back);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    return is_named ? before : callers_begin(NULL, 0);
}

/* Return whether a wrapper keeps the GIL: the function that it calls uses Python's objects. */
static inline int keeps_gil(const char *wrapper)
{
    static const char own[] = "_cffi_f_binding_torch_";
    return strncmp(wrapper, own, sizeof own - 1) == 0;
}

/* Prologue and epilogue of every call in cffi's wrappers. */
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS                                                                     \
    {                                                                                              \
        const int binding_tells = callers_begin != NULL && reaches_cann(__func__);                 \
        const void *const binding_before = binding_tells ? begin_call() : NULL;                    \
        PyThreadState *binding_thread = keeps_gil(__func__) ? NULL : PyEval_SaveThread();
#define Py_END_ALLOW_THREADS                                                                       \
    if (binding_thread != NULL) {                                                                  \
        PyEval_RestoreThread(binding_thread);                                                      \
    }                                                                                              \
    if (binding_tells && callers_end != NULL) {                                                    \
        callers_end(binding_before);                                                               \
    }                                                                                              \
    }
