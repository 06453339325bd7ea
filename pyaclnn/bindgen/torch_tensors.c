/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of PyTorch, read by the C functions that PyTorch keeps from 2.7 on (aoti_torch_*).
 * Reading one from Python takes a call for each of its properties, which together take longer than
 * a launch. Called with the GIL; see callers.c. */

enum { TORCH_TENSORS = 32 };

static struct binding_torch torch;

/* Set the functions to use. */
void binding_torch_use(const struct binding_torch *functions)
{
    torch = *functions;
    Py_INCREF((PyObject *)torch.handles_of);
}

/* Create handles of the tensors of a list: their number; 0: not all of them have one. */
static uint32_t torch_handles(PyObject *tensors, void **handles)
{
    PyObject *made = PyObject_CallFunctionObjArgs((PyObject *)torch.handles_of, tensors, NULL);
    const Py_ssize_t count = made == NULL ? 0 : PyList_Size(made);
    uint32_t taken = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        void *handle = PyCapsule_GetPointer(PyList_GetItem(made, i), NULL);
        if (handle != NULL && taken < TORCH_TENSORS) {
            handles[taken++] = handle;
        } else if (handle != NULL) {
            torch.delete_tensor_object(handle);
        }
    }
    Py_XDECREF(made);
    PyErr_Clear(); /* the caller asks PyTorch in Python, and gets the error there */
    return taken;
}

static int torch_layout_of(void *tensor, struct binding_torch_layout *found)
{
    int64_t *dims, *strides;
    if (torch.get_dim(tensor, &found->rank) != 0 || torch.get_sizes(tensor, &dims) != 0 ||
        torch.get_strides(tensor, &strides) != 0 || torch.get_dtype(tensor, &found->dtype) != 0 ||
        torch.get_device_type(tensor, &found->device_type) != 0 ||
        torch.get_device_index(tensor, &found->device) != 0 || found->rank < 0 ||
        (size_t)found->rank > sizeof found->dims / sizeof found->dims[0]) {
        return 0;
    }
    for (int64_t i = 0; i < found->rank; i++) {
        found->dims[i] = dims[i];
        found->strides[i] = strides[i];
    }
    return 1;
}

static int torch_is_same(void *tensor, const struct binding_torch_layout *known)
{
    struct binding_torch_layout found;
    const size_t bytes = (size_t)known->rank * sizeof known->dims[0];
    return torch_layout_of(tensor, &found) && found.rank == known->rank &&
           found.dtype == known->dtype && found.device_type == known->device_type &&
           found.device == known->device && memcmp(found.dims, known->dims, bytes) == 0 &&
           memcmp(found.strides, known->strides, bytes) == 0;
}

/* Return whether strides address the elements of a tensor. The call takes the handle. */
static int torch_is_dense(void *tensor)
{
    uint64_t stack[1] = {(uint64_t)(uintptr_t)tensor};
    if (torch.call_dispatcher("npu::get_npu_format", "", stack) != 0) {
        return 0;
    }
    const int64_t format = (int64_t)stack[0];
    return format >= -1 && format < 63 && (torch.dense >> (format + 1) & 1u) != 0;
}

/* Store the layouts of the tensors of a list. Return whether all of them have one. */
int binding_torch_read(uintptr_t tensors, struct binding_torch_layout *layouts, uint32_t count)
{
    void *handles[TORCH_TENSORS];
    const uint32_t taken = torch_handles((PyObject *)tensors, handles);
    int known = taken == count;
    for (uint32_t i = 0; i < taken; i++) {
        known = known && torch_layout_of(handles[i], &layouts[i]);
        torch.delete_tensor_object(handles[i]);
    }
    return known;
}

/* Write the addresses of the tensors of a list to the places that the launcher reads. Return whether
 * the first ones have the layouts of a call, and all that are used have memory. */
static int torch_place(const struct binding_torch_call *known, PyObject *tensors)
{
    void *handles[TORCH_TENSORS], *addresses[TORCH_TENSORS];
    const uint32_t taken = torch_handles(tensors, handles);
    int same = taken >= known->given_count;
    for (uint32_t i = 0; i < taken; i++) {
        same = same && torch.get_data_ptr(handles[i], &addresses[i]) == 0;
        if (same && i < known->given_count && torch_is_same(handles[i], &known->given[i])) {
            same = torch_is_dense(handles[i]);
        } else {
            same = same && i >= known->given_count;
            torch.delete_tensor_object(handles[i]);
        }
    }
    for (uint32_t i = 0; same && i < known->place_count; i++) {
        const struct binding_torch_place *place = &known->places[i];
        same = place->tensor < taken && addresses[place->tensor] != NULL;
        if (same) {
            *place->address = (char *)addresses[place->tensor] + place->offset;
        }
    }
    return same;
}

/* Launch a call again, with the tensors of a list: those that are given, and those that were made
 * for it. BINDING_DIFFERS: they have other layouts, or no memory. */
int binding_torch_launch(const struct binding_torch_call *known, uintptr_t tensors,
                         struct binding_timeline *timeline)
{
    int status = BINDING_DIFFERS;
    if (torch_place(known, (PyObject *)tensors)) {
        Py_BEGIN_ALLOW_THREADS
        status = binding_launch(known->op, timeline, NULL, 0, known->message);
        Py_END_ALLOW_THREADS
    }
    return status;
}
