/* SPDX-License-Identifier: Apache-2.0 */
/* Reads or writes through what CANN handed out: dereference WHAT read|write|nothing. */
#include "aclnn/acl_meta.h"
#include "expect.h"

static void *find(const char *what)
{
    const int64_t dims[1] = {4};
    void *found = NULL;
    if (strcmp(what, "context") == 0) {
        OK(aclrtGetCurrentContext(&found));
    } else if (strcmp(what, "stream") == 0) {
        OK(aclrtCreateStream(&found));
    } else if (strcmp(what, "event") == 0) {
        OK(aclrtCreateEvent(&found));
    } else if (strcmp(what, "tensor") == 0) {
        found = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, NULL);
    } else if (strcmp(what, "array") == 0) {
        found = aclCreateIntArray(dims, 1);
    } else if (strcmp(what, "pinned") == 0) {
        OK(aclrtMallocHost(&found, 64));
    } else {
        OK(aclrtMalloc(&found, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    return found;
}

int main(int count, char **arguments)
{
    EXPECT(3, count);
    OK(aclrtSetDevice(0));
    volatile char *place = find(arguments[1]);
    puts("reached");
    fflush(stdout);
    if (strcmp(arguments[2], "read") == 0) {
        return place[0] == 77;
    }
    if (strcmp(arguments[2], "write") == 0) {
        place[0] = 1;
    }
    return 0;
}
