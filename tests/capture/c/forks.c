/* SPDX-License-Identifier: Apache-2.0 */
/* Children that are forked while two threads make calls, beside many live tensors: prints how many
   of them hung. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
static int ended;
static aclTensor *create(void)
{
    static int64_t dims[] = {8, 8}, strides[] = {8, 1};
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, dims);
}
static void *work(void *unused)
{
    while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) aclDestroyTensor(create());
    return unused;
}
int main(int argc, char **argv)
{
    int hung = 0, forks = argc > 1 ? atoi(argv[1]) : 20;
    pthread_t threads[2];
    aclInit(NULL);
    for (int i = 0; i < 3000; i++) create();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < forks && hung == 0; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            for (int j = 0; j < 3; j++) aclDestroyTensor(create());
            _exit(0);
        }
        waitpid(child, &status, 0);
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    }
    __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d hung\n", hung);
    return 0;
}
