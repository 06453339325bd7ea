/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in a loop: prints the CPU time of one in microseconds, and the most memory in kB. With a
   second argument it does without a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
int main(int argc, char **argv)
{
    long n = atol(argv[1]);
    int64_t dims[] = {8, 8}, strides[] = {8, 1};
    aclInit(NULL);
    if (argc < 3) aclrtSetDevice(0);
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (long i = 0; i < n / 2; i++) {
        aclTensor *t = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, NULL);
        aclDestroyTensor(t);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    printf("%.3f us a call\n", ((b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) / 1e3) / n);
    FILE *f = fopen("/proc/self/status", "r"); char l[200];
    while (fgets(l, sizeof l, f)) {
        if (strncmp(l, "VmHWM:", 6) == 0) printf("%ld kB\n", atol(l + 6));
    }
    fclose(f);
    aclrtResetDevice(0); aclFinalize();
    return 0;
}
