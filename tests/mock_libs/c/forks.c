/* SPDX-License-Identifier: Apache-2.0 */
/* A child that was forked with an open device: it is told, and its parent goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static void *memory;

static int child(void)
{
    char text[8] = "child";
    EXPECT(507010, aclrtSynchronizeDevice());
    const char *message = aclGetRecentErrMsg();
    EXPECT(1, message != NULL && strstr(message, "forked from") != NULL);
    EXPECT(507010, aclrtSetDevice(0));
    EXPECT(507010, aclrtMemcpy(memory, 8, text, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtFree(memory)); /* its poison must not reach the parent's memory */
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0)); /* a device process of its own */
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(memory));
    OK(aclrtResetDevice(0));
    return 0;
}

int main(void)
{
    char text[8] = "parent";
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(memory, 8, text, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemsetAsync((char *)memory + 8, 56, 9, 8, NULL));
    const pid_t process = fork();
    if (process == 0) {
        _exit(child());
    }
    int status = 1;
    EXPECT(process, waitpid(process, &status, 0));
    OK(status);
    OK(aclrtMemcpy(text, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(strcmp(text, "parent"));
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemcpy(text, 8, (char *)memory + 8, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(9, text[0]);
    OK(aclrtFree(memory));
    OK(aclrtResetDevice(0));
    return 0;
}
