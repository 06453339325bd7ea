/* SPDX-License-Identifier: Apache-2.0 */
/* Common declarations of the rules' snippets, and the main program that runs them. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_layer_norm_backward.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_rms_norm_grad.h"
#include "hccl/hccl.h"

enum { BYTES = 4096, COLUMNS = 8, PIECE = 2 << 20 };
#define ROWS rows

static aclrtContext primary;
static aclrtStream stream, other;
static aclrtEvent event;
static int64_t rows = 2; /* other ones in every case: the operator cache knows none of them */
static void *x_at, *g_at, *y_at, *rstd_at, *device, *host, *workspace;
static aclTensor *x, *g, *y, *rstd;
static aclIntArray *shape;
static uint64_t size;
static aclOpExecutor *executor;

static void must(int status)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "the stage broke: %d %s\n", status, text == NULL ? "" : text);
        exit(3);
    }
}

static aclTensor *tensor_of(int64_t first, int64_t second, void **memory)
{
    const int64_t dims[] = {first, second};
    const uint64_t rank = second == 0 ? 1 : 2;
    must(aclrtMalloc(memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtMemset(*memory, BYTES, 0, BYTES));
    return aclCreateTensor(dims, rank, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, rank, *memory);
}

static void stage_open(void)
{
    const int64_t dims[] = {COLUMNS};
    rows++;
    must(aclrtSetDevice(0));
    must(aclrtGetCurrentContext(&primary));
    must(aclrtCreateStream(&stream));
    must(aclrtCreateStream(&other));
    must(aclrtCreateEvent(&event));
    must(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtMemset(device, BYTES, 0, BYTES));
    must(aclrtMallocHost(&host, BYTES));
    memset(host, 0, BYTES);
    x = tensor_of(rows, COLUMNS, &x_at);
    g = tensor_of(COLUMNS, 0, &g_at);
    y = tensor_of(rows, COLUMNS, &y_at);
    rstd = tensor_of(rows, 1, &rstd_at);
    shape = aclCreateIntArray(dims, 1);
}

static void free_device(void **memory)
{
    if (*memory != NULL) {
        must(aclrtFree(*memory));
    }
    *memory = NULL;
}

/* Gives back whatever a snippet has left; what it destroyed, it has set to NULL. */
static void stage_close(void)
{
    must(aclrtSetCurrentContext(primary));
    aclrtSynchronizeStream(stream); /* may report what the snippet broke */
    if (other != NULL) {
        aclrtSynchronizeStream(other);
        must(aclrtDestroyStream(other));
    }
    must(aclrtDestroyStream(stream));
    must(aclrtDestroyEvent(event));
    if (executor != NULL) {
        must(aclDestroyAclOpExecutor(executor));
    }
    must(aclDestroyTensor(x));
    must(aclDestroyTensor(g));
    must(aclDestroyTensor(y));
    must(aclDestroyTensor(rstd));
    must(aclDestroyIntArray(shape));
    free_device(&x_at);
    free_device(&g_at);
    free_device(&y_at);
    free_device(&rstd_at);
    free_device(&device);
    free_device(&workspace);
    if (host != NULL) {
        must(aclrtFreeHost(host));
    }
    stream = other = NULL;
    executor = NULL;
    host = NULL;
    aclGetRecentErrMsg();
}

static void phase_1_again(void)
{
    must(aclnnRmsNormGetWorkspaceSize(x, g, 1e-6, y, rstd, &size, &executor));
}

static void phase_1(void)
{
    phase_1_again();
    if (workspace == NULL) {
        must(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    }
}

/* Both phases of a LayerNormBackward that gives the gradient of the weight alone, in this shape. */
static void backward(int64_t first, int64_t second)
{
    const bool wanted[] = {false, true, false};
    void *gradient_at;
    aclTensor *gradient = tensor_of(first, second, &gradient_at);
    aclBoolArray *mask = aclCreateBoolArray(wanted, 3);
    must(aclnnLayerNormBackwardGetWorkspaceSize(y, x, shape, rstd, rstd, g, NULL, mask, NULL,
                                                gradient, NULL, &size, &executor));
    must(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclnnLayerNormBackward(workspace, size, executor, stream));
    executor = NULL;
    must(aclrtSynchronizeStream(stream));
    must(aclDestroyTensor(gradient));
    must(aclDestroyBoolArray(mask));
    must(aclrtFree(gradient_at));
}

/* Launch a selection of one row of x, whose number lies on the device. */
static void select_row(int64_t row)
{
    const int64_t one[] = {1}, dims[] = {1, COLUMNS};
    must(aclrtMemcpy(device, BYTES, &row, sizeof row, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *index = aclCreateTensor(one, 1, ACL_INT64, NULL, 0, ACL_FORMAT_ND, one, 1, device);
    aclTensor *out = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, y_at);
    must(aclnnIndexSelectGetWorkspaceSize(x, 0, index, out, &size, &executor));
    must(aclnnIndexSelect(NULL, 0, executor, stream));
    executor = NULL;
    must(aclDestroyTensor(index));
    must(aclDestroyTensor(out));
}

/* A communicator of two ranks: the stage is one, a second device the other. */
static HcclComm comms[2];
static aclrtContext contexts[2];
static aclrtStream far;
static void *far_x, *far_y;

static void on_rank(int rank)
{
    must(aclrtSetCurrentContext(contexts[rank]));
}

static void collective_open(void)
{
    int32_t devices[] = {0, 1};
    must(aclrtSetDevice(1));
    must(aclrtGetCurrentContext(&contexts[1]));
    must(aclrtCreateStream(&far));
    must(aclrtMalloc(&far_x, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtMemset(far_x, BYTES, 0, BYTES));
    must(aclrtMalloc(&far_y, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    must(HcclCommInitAll(2, devices, comms));
    contexts[0] = primary;
    on_rank(0);
}

static void collective_close(void)
{
    aclrtSynchronizeStream(stream); /* both may report what the snippet broke */
    aclrtSynchronizeStream(far);
    for (int rank = 0; rank < 2; rank++) {
        if (comms[rank] != NULL) {
            must(HcclCommDestroy(comms[rank]));
        }
    }
    on_rank(1);
    must(aclrtFree(far_x));
    must(aclrtFree(far_y));
    must(aclrtDestroyStream(far));
    must(aclrtResetDevice(1));
    on_rank(0);
}

static void *synchronize_device(void *unused)
{
    (void)unused;
    aclrtSynchronizeDevice();
    return NULL;
}

static void *set_context_and_synchronize(void *unused)
{
    (void)unused;
    aclrtSetCurrentContext(primary);
    aclrtSynchronizeDevice();
    return NULL;
}

static void in_thread(void *(*function)(void *))
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, function, NULL));
    must(pthread_join(thread, NULL));
}

/* A host function that waits for the stream it is given. */
static void wait_for(void *awaited)
{
    aclrtSetCurrentContext(primary);
    aclrtSynchronizeStream(awaited);
}

/* Every name above is used by some snippet, but not by each. */
static inline void unused_names(void)
{
    (void)phase_1;
    (void)backward;
    (void)in_thread;
    (void)collective_open;
    (void)collective_close;
    (void)synchronize_device;
    (void)set_context_and_synchronize;
    (void)wait_for;
}
