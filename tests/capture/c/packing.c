/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of a block on the recorder's own thread while the program forks, or memory runs out.
 *
 * Built with the recorder's sources, whose realloc is `realloc_for_recorder`. Argument: "fork", or
 * "refuse" for a thread that gets no memory. Prints the kinds of the blocks that were packed. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handed_block.h"
#include "locks.h"

/* Blocks so large that malloc maps them: memory that is freed faults. */
enum { SMALL = 256 << 10, LARGE = 1 << 20, MOMENT = 200000 };

void *realloc_for_recorder(void *data, size_t bytes);

static pthread_t packer;
static volatile bool is_slow, refuses, is_moving;

void *realloc_for_recorder(void *data, size_t bytes)
{
    const bool of_packer = pthread_equal(pthread_self(), packer);
    if (of_packer && refuses) {
        return NULL;
    }
    if (!of_packer || !is_slow) {
        return realloc(data, bytes);
    }
    void *moved = malloc(bytes);
    free(data);
    is_moving = true;
    usleep(MOMENT);
    return moved;
}

static void hand_over(size_t bytes)
{
    static struct capture_bytes block;
    pthread_mutex_lock(&capture_locks[CAPTURE_FILE]);
    block.length = 0;
    if (capture_room(&block, bytes)) {
        memset(block.data, 'x', bytes);
        block.length = bytes;
    }
    if (!capture_hand_over(&block)) {
        puts("busy");
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_FILE]);
}

static void pack(void)
{
    struct capture_packed packed;
    pthread_mutex_lock(&capture_locks[CAPTURE_FILE]);
    if (capture_pack_handed(&packed)) {
        capture_drop_handed();
        printf("%.4s\n", (const char *)packed.head);
        fflush(stdout);
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_FILE]);
}

static void *run(void *unused)
{
    packer = pthread_self();
    pack();
    return unused;
}

static pthread_t pack_on_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    return thread;
}

int main(int count, char **words)
{
    const bool forks = count > 1 && strcmp(words[1], "fork") == 0;
    refuses = !forks;
    hand_over(SMALL);
    pthread_join(pack_on_thread(), NULL);
    if (!forks) {
        return 0;
    }
    is_slow = true;
    hand_over(LARGE);
    const pthread_t thread = pack_on_thread();
    while (!is_moving) {
        usleep(1000);
    }
    const pid_t child = fork();
    if (child == 0) {
        is_slow = false;
        hand_over(SMALL);
        pack();
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return status;
}
