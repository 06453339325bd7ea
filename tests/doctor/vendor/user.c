/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program: one operator, whose result it checks. It ends with status 0 if that is right;
 * otherwise it prints the function that failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_rms_norm.h"

enum { ROWS = 4, COLUMNS = 64, ELEMENTS = ROWS * COLUMNS };

static void check(int status, const char *function)
{
    if (status != 0) {
        printf("%s answers %d\n", function, status);
        exit(1);
    }
}

#define TRY(function, ...) check(function(__VA_ARGS__), #function)

static aclTensor *tensor(void *memory, const int64_t *shape, const int64_t *strides, uint64_t rank)
{
    aclTensor *made = aclCreateTensor(shape, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, rank,
                                      memory);
    check(made == NULL, "aclCreateTensor");
    return made;
}

int main(void)
{
    float x[ELEMENTS];
    float gamma[COLUMNS];
    float y[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i % 7) - 2.5F;
    }
    for (int i = 0; i < COLUMNS; i++) {
        gamma[i] = 1.5F;
    }
    TRY(aclInit, NULL);
    uint32_t devices = 0;
    TRY(aclrtGetDeviceCount, &devices);
    check(devices != 1, "aclrtGetDeviceCount");
    check(aclrtGetSocName() == NULL, "aclrtGetSocName");
    TRY(aclrtSetDevice, 0);
    size_t idle = 0;
    size_t total = 0;
    TRY(aclrtGetMemInfo, ACL_HBM_MEM, &idle, &total);
    aclrtStream stream = NULL;
    TRY(aclrtCreateStream, &stream);
    void *places[4];
    const size_t sizes[4] = {sizeof x, sizeof gamma, sizeof y, ROWS * sizeof(float)};
    for (int i = 0; i < 4; i++) {
        TRY(aclrtMalloc, &places[i], sizes[i], ACL_MEM_MALLOC_HUGE_FIRST);
    }
    TRY(aclrtMemcpy, places[0], sizeof x, x, sizeof x, ACL_MEMCPY_HOST_TO_DEVICE);
    TRY(aclrtMemcpy, places[1], sizeof gamma, gamma, sizeof gamma, ACL_MEMCPY_HOST_TO_DEVICE);
    const int64_t shape[2] = {ROWS, COLUMNS};
    const int64_t strides[2] = {COLUMNS, 1};
    const int64_t lines[1] = {COLUMNS};
    const int64_t rows[2] = {ROWS, 1};
    const int64_t ones[2] = {1, 1};
    aclTensor *const tensors[4] = {
        tensor(places[0], shape, strides, 2),
        tensor(places[1], lines, &ones[0], 1),
        tensor(places[2], shape, strides, 2),
        tensor(places[3], rows, ones, 2),
    };
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    TRY(aclnnRmsNormGetWorkspaceSize, tensors[0], tensors[1], 1e-6, tensors[2], tensors[3], &size,
        &executor);
    void *workspace = NULL;
    if (size > 0) {
        TRY(aclrtMalloc, &workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    TRY(aclnnRmsNorm, workspace, size, executor, stream);
    TRY(aclrtSynchronizeStream, stream);
    TRY(aclrtMemcpy, y, sizeof y, places[2], sizeof y, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < 4; i++) {
        TRY(aclDestroyTensor, tensors[i]);
        TRY(aclrtFree, places[i]);
    }
    TRY(aclrtDestroyStream, stream);
    TRY(aclrtResetDevice, 0);
    TRY(aclFinalize);
    for (int row = 0; row < ROWS; row++) {
        double square = 0;
        for (int i = 0; i < COLUMNS; i++) {
            const double value = x[row * COLUMNS + i];
            square += value * value / COLUMNS;
        }
        for (int i = 0; i < COLUMNS; i++) {
            const double right = 1.5 * x[row * COLUMNS + i] / sqrt(square + 1e-6);
            check(!(fabs(y[row * COLUMNS + i] - right) < 1e-4), "the comparison");
        }
    }
    return 0;
}
