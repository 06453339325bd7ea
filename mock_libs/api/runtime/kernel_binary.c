/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries of kernels that were compiled for the host, and the functions in them. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"
#include "host_kernel.h"

/* The data that aclrtCreateBinary was given. */
struct binary_data {
    const void *data;
    size_t bytes;
    struct binary_data *next;
};

static struct binary_data *created;

static struct binary_data **find_data(const void *handle)
{
    struct binary_data **link = &created;
    while (*link != NULL && *link != handle) {
        link = &(*link)->next;
    }
    return link;
}

static aclError no_binary(const void *handle)
{
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                     "%p is no binary: it was unloaded, or never was one", handle);
}

static aclError load(const void *data, size_t bytes, aclrtBinHandle *handle)
{
    *handle = mock_binary_new(data, bytes);
    return *handle != NULL ? ACL_SUCCESS : MOCK_NOT_IMPLEMENTED;
}

aclrtBinary aclrtCreateBinary(const void *data, size_t bytes)
{
    struct binary_data *binary = data == NULL || bytes == 0 ? NULL : malloc(sizeof *binary);
    if (binary != NULL) {
        *binary = (struct binary_data){data, bytes, created};
        created = binary;
    }
    return binary;
}

aclError aclrtDestroyBinary(aclrtBinary handle)
{
    struct binary_data **link = find_data(handle), *binary = *link;
    if (binary == NULL) {
        return no_binary(handle);
    }
    *link = binary->next;
    free(binary);
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *handle)
{
    const struct binary_data *found = *find_data(binary);
    return found == NULL ? no_binary(binary) : load(found->data, found->bytes, handle);
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                 const aclrtBinaryLoadOptions *options, aclrtBinHandle *handle)
{
    (void)options;
    return load(data, length, handle);
}

/* Constructors of a library may call CANN, so it is loaded without the lock. Its code stays:
 * kernels may be queued when their binary is unloaded. */
aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *handle)
{
    (void)options;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pyaclnn_kernels *table =
        library == NULL ? NULL : dlsym(library, "pyaclnn_kernels");
    if (table == NULL) {
        return mock_fail(MOCK_NOT_IMPLEMENTED,
                         "'%s' has no kernels that were compiled for the host; compile their "
                         "source by 'pyaclnn ascendc compile --binary'",
                         path);
    }
    mock_enter();
    const aclError status = load(table, sizeof *table, handle);
    mock_leave();
    return status;
}

aclError aclrtBinaryUnLoad(aclrtBinHandle handle)
{
    struct mock_binary *binary = mock_binary_find(handle);
    if (binary == NULL) {
        return no_binary(handle);
    }
    mock_binary_free(binary);
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle handle, const char *name,
                                aclrtFuncHandle *function)
{
    const struct mock_binary *binary = mock_binary_find(handle);
    if (binary == NULL) {
        return no_binary(handle);
    }
    for (size_t i = 0; i < binary->table.count; i++) {
        const struct pyaclnn_kernel *kernel = &binary->table.kernels[i];
        if (strcmp(kernel->name, name) == 0) {
            *function = (aclrtFuncHandle)(uintptr_t)kernel;
            return ACL_SUCCESS;
        }
    }
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the binary has no kernel '%s'", name);
}
