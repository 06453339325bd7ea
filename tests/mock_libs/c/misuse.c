/* SPDX-License-Identifier: Apache-2.0 */
/* A program that does everything wrong once; the simulated NPU must stay whole. */
#include "expect.h"

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_rms_norm_grad.h"

static void handles(void)
{
    aclrtStream stream;
    aclrtEvent event;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(stream, event));
    EXPECT(507046, aclrtSynchronizeStreamWithTimeout(stream, 5));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtDestroyEvent(event));
    EXPECT(107017, aclrtDestroyEvent(event));
    EXPECT(107017, aclrtRecordEvent(event, stream));
    OK(aclrtDestroyStream(stream));
    EXPECT(107017, aclrtDestroyStream(stream));
    EXPECT(107017, aclrtSynchronizeStream((aclrtStream)(uintptr_t)0x1234));
}

static void memory(void)
{
    void *device, *host;
    OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 64));
    EXPECT(107000, aclrtMemcpy(device, 32, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(107000, aclrtMemcpy(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(107000, aclrtMemcpy2d(device, SIZE_MAX / 2, host, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpyAsync(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    OK(aclrtFree(device));
    OK(aclrtFreeHost(host));
    EXPECT(507013, aclrtSynchronizeStream(NULL));
    EXPECT(107000, aclrtFree(device));
    EXPECT(107000, aclrtFreeHost(host));
    EXPECT(207001, aclrtMalloc(&device, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(100000, aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void objects(void)
{
    const int64_t dims[30] = {2, 3};
    uint64_t size;
    aclOpExecutor *executor = NULL;
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL);
    aclIntArray *array = aclCreateIntArray(dims, 2);
    aclTensorList *list = aclCreateTensorList((const aclTensor *const *)&tensor, 1);
    EXPECT(1, aclCreateTensor(dims, 30, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    EXPECT(161002, aclDestroyTensor((const aclTensor *)array));
    OK(aclDestroyTensorList(list));
    EXPECT(161002, aclDestroyTensor(tensor));
    EXPECT(161002, aclDestroyTensorList(list));
    EXPECT(161002, aclnnRmsNormGradGetWorkspaceSize(tensor, tensor, tensor, tensor, tensor, tensor,
                                                    &size, &executor));
    EXPECT(161001, aclnnRmsNormGradGetWorkspaceSize(NULL, NULL, NULL, NULL, NULL, NULL, &size,
                                                    &executor));
    EXPECT(161001, aclnnRmsNormGrad(NULL, 0, NULL, NULL));
    OK(aclDestroyIntArray(array));
}

int main(void)
{
    EXPECT(107002, aclrtSynchronizeDevice());
    EXPECT(507007, aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    handles();
    memory();
    objects();
    EXPECT(107002, aclrtDestroyContext((aclrtContext)(uintptr_t)0x10));
    OK(aclrtResetDeviceForce(0));
    EXPECT(507007, aclrtResetDeviceForce(0));
    return 0;
}
