/* SPDX-License-Identifier: Apache-2.0 */
/* Memory exported by DLPack: the content of a capsule, and its deleter. The consumer may release
 * it on any thread, with an exception pending, or after Python has ended, when nothing is left to
 * release. */
#include <stdlib.h>

struct lent {
    void *data;
    int32_t device_type, device;
    int32_t axes;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
    PyObject *owner;
    void (*give_back)(struct lent *lent);
    int64_t numbers[];
};

/* Release the owner, on a thread that has the GIL. */
static void release(struct lent *lent)
{
    PyObject *type, *value, *trace;
    /* Pythons of 3.12 and later have another way, which older ones lack. */
    _Pragma("GCC diagnostic push")
    _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
    PyErr_Fetch(&type, &value, &trace);
    Py_DECREF(lent->owner);
    PyErr_Restore(type, value, trace);
    _Pragma("GCC diagnostic pop")
    free(lent);
}

static void give_back_lent(struct lent *lent)
{
    if (Py_IsInitialized()) {
        const PyGILState_STATE state = PyGILState_Ensure();
        release(lent);
        PyGILState_Release(state);
    } else {
        free(lent);
    }
}

/* The end of a capsule. Who takes what it holds gives it another name. It has the GIL, and must not
 * ask for it: if a thread of C drops it at its end, Pythons before 3.12.4 would end the thread's
 * state twice. */
static void drop_capsule(PyObject *capsule)
{
    static const char name[] = "dltensor";
    if (PyCapsule_IsValid(capsule, name)) {
        release(PyCapsule_GetPointer(capsule, name));
    }
}

/* The destructor of a capsule. */
void *binding_lent_end(void)
{
    void (*const function)(PyObject *) = drop_capsule;
    void *end;
    memcpy(&end, &function, sizeof end);
    return end;
}

/* Create the content of a capsule; NULL without memory. It holds a reference to `owner`.
 * `numbers` are the lengths of the axes, and then their strides in elements. */
void *binding_lend(uintptr_t owner, uint64_t address, const int32_t *device, uint8_t code,
                   uint8_t bits, int32_t axes, const int64_t *numbers)
{
    const size_t size = 2 * (size_t)axes * sizeof *numbers;
    struct lent *lent = malloc(sizeof *lent + size);
    if (lent == NULL) {
        return NULL;
    }
    *lent = (struct lent){.device_type = device[0], .device = device[1], .axes = axes, .code = code,
                          .bits = bits, .lanes = 1, .give_back = give_back_lent};
    lent->data = (void *)(uintptr_t)address;
    lent->owner = (PyObject *)owner;
    lent->shape = lent->numbers;
    lent->strides = lent->numbers + axes;
    memcpy(lent->numbers, numbers, size);
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_INCREF(lent->owner);
    PyGILState_Release(state);
    return lent;
}
