/* SPDX-License-Identifier: Apache-2.0 */
/* A vendor's operator library as the doctor may meet it: the simulated one, whose RmsNorm has a
 * fault chosen by the environment variable KIT_FAULT. */
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_rms_norm.h"

#include "files.h"

static bool fault(const char *name)
{
    const char *chosen = getenv("KIT_FAULT");
    return chosen != NULL && strcmp(chosen, name) == 0;
}

static void *behind(const char *symbol)
{
    static void *library;
    if (library == NULL) {
        library = dlopen("libvendr.so", RTLD_NOW | RTLD_NOLOAD);
    }
    void *found = library == NULL ? NULL : dlsym(library, symbol);
    if (found == NULL) {
        fprintf(stderr, "kit: no %s behind the operators\n", symbol);
        abort();
    }
    return found;
}

#define BEHIND(name) ((__typeof__(&name))behind(#name))

#define KERNELS "built-in/op_impl/ai_core/tbe/kernel/"

/* The output of the call between its two phases. */
static void *output;
static size_t elements;
static aclDataType type;

static void remember(const aclTensor *tensor)
{
    int64_t *dims = NULL;
    uint64_t count = 0;
    aclGetViewShape(tensor, &dims, &count);
    elements = 1;
    for (uint64_t i = 0; i < count; i++) {
        elements *= (size_t)dims[i];
    }
    aclGetDataType(tensor, &type);
    aclGetRawTensorAddr(tensor, &output);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gamma, double epsilon, const aclTensor *yOut, const aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor)
{
    if (fault("op-561003")) {
        return 561003;
    }
    if (fault("op-161002")) {
        return 161002;
    }
    if (getenv("KIT_ROOT") != NULL &&
        !kit_has("ASCEND_OPP_PATH", KERNELS "config/ascend910b/binary_info_config.json", '{', '}')) {
        return 561107;
    }
    if (getenv("KIT_ROOT") != NULL &&
        !kit_kernel("ASCEND_OPP_PATH", KERNELS "ascend910b/rms_norm/kernel.o")) {
        return 561112;
    }
    remember(yOut);
    return BEHIND(aclnnRmsNormGetWorkspaceSize)(x, gamma, epsilon, yOut, rstdOut, workspaceSize,
                                                executor);
}

static void spoil_float(float *values)
{
    static unsigned calls;
    calls++;
    if (fault("op-one")) {
        values[elements / 2] += 1.0F;
    }
    if (fault("op-seldom") && calls % 7 == 0) {
        values[elements / 2] += 1.0F;
    }
    for (size_t i = 0; fault("op-half") && i < elements; i++) {
        /* A float32 whose mantissa is rounded to that of a float16. */
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = (bits + 0x1000U) & 0xFFFFE000U;
        memcpy(&values[i], &bits, sizeof bits);
    }
    if (fault("op-flaky") && calls % 2 == 0) {
        values[0] = nextafterf(values[0], 0.0F);
    }
}

static void spoil(aclrtStream stream)
{
    const size_t bytes = elements * (type == ACL_FLOAT ? 4U : 2U);
    void *host = malloc(bytes + 1);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(host, bytes, output, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (fault("op-zeros")) {
        memset(host, 0, bytes);
    } else if (fault("op-nan")) {
        memset(host, 0xFF, bytes / 2);
    } else if (type == ACL_FLOAT && elements > 0) {
        spoil_float(host);
    }
    aclrtMemcpy(output, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    free(host);
}

ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream)
{
    if (fault("op-segv")) {
        raise(SIGSEGV);
    }
    while (fault("op-hang")) {
        pause();
    }
    if (fault("op-nothing")) {
        aclDestroyAclOpExecutor(executor);
        return 0;
    }
    if (fault("op-slow") && type == ACL_FLOAT && elements > 40000) {
        usleep(1100000);
    }
    const aclnnStatus status = BEHIND(aclnnRmsNorm)(workspace, workspaceSize, executor, stream);
    const char *chosen = getenv("KIT_FAULT");
    if (chosen != NULL && strncmp(chosen, "op-", 3) == 0 && status == 0) {
        spoil(stream);
    }
    return status;
}
