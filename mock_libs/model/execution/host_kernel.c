/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compiled for the host. Each launch runs in a forked process, which has the device's
 * memory at its addresses: a kernel that crashes or never ends leaves the program alone. */
#include "host_kernel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "address_query.h"
#include "address_space.h"
#include "entry.h"
#include "error_message.h"
#include "host_task.h"
#include "poll_source.h"

/* ---- binaries ------------------------------------------------------------------------------- */

static struct mock_binary *binaries;

struct mock_binary *mock_binary_new(const void *data, size_t bytes)
{
    const struct pyaclnn_kernels *table = data;
    if (bytes != sizeof *table || !mock_is_live(data, bytes, false) ||
        memcmp(table->magic, PYACLNN_KERNELS_MAGIC, sizeof table->magic) != 0) {
        mock_fail(MOCK_NOT_IMPLEMENTED, "the binary was compiled for a chip, and the simulated "
                                        "NPU runs none: compile its source by "
                                        "'pyaclnn ascendc compile'");
        return NULL;
    }
    struct mock_binary *binary = malloc(sizeof *binary);
    if (binary == NULL) {
        mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a binary");
        return NULL;
    }
    *binary = (struct mock_binary){*table, binaries};
    binaries = binary;
    return binary;
}

struct mock_binary *mock_binary_find(const void *handle)
{
    struct mock_binary *binary = binaries;
    while (binary != NULL && binary != handle) {
        binary = binary->next;
    }
    return binary;
}

void mock_binary_free(struct mock_binary *binary)
{
    struct mock_binary **link = &binaries;
    while (*link != binary) {
        link = &(*link)->next;
    }
    *link = binary->next;
    free(binary);
}

struct mock_binary *mock_binary_of(const void *function)
{
    for (struct mock_binary *each = binaries; each != NULL; each = each->next) {
        for (size_t i = 0; i < each->table.count; i++) {
            if (function == &each->table.kernels[i]) {
                return each;
            }
        }
    }
    return NULL;
}

const struct pyaclnn_kernel *mock_kernel_of(const void *code)
{
    for (const struct mock_binary *each = binaries; each != NULL; each = each->next) {
        for (size_t i = 0; i < each->table.count; i++) {
            if ((uintptr_t)each->table.kernels[i].function == (uintptr_t)code) {
                return &each->table.kernels[i];
            }
        }
    }
    return NULL;
}

const struct pyaclnn_kernel *mock_kernel_find(const void *function, aclError *status)
{
    const bool known = mock_binary_of(function) != NULL;
    *status = known ? ACL_SUCCESS
                    : mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no function of a loaded binary",
                                function);
    return known ? function : NULL;
}

/* ---- the process of a kernel ---------------------------------------------------------------- */

/* Shared with it. */
struct outcome {
    bool finished;
    char fault[2048];
};

struct work {
    struct pyaclnn_kernel kernel;
    struct device *device;
    uint8_t *copy; /* of the arguments, or NULL: they are on the device */
    const uint8_t *arguments;
    size_t bytes, slot;
    bool points_inside; /* the copy has pointers to itself */
    uint32_t blocks;
    struct outcome *outcome; /* NULL: it was not started */
    pid_t process;
    int output; /* a file that takes its standard output */
    struct mock_poll_source end; /* a socket that ends with it */
    char text[2304];
};

struct memory_list {
    struct pyaclnn_memory *items;
    size_t count;
};

static void add_memory(struct memory_list *list, uint8_t *address, uint64_t bytes)
{
    struct pyaclnn_memory *larger = realloc(list->items, (list->count + 1) * sizeof *larger);
    if (larger == NULL) {
        _exit(1);
    }
    larger[list->count++] = (struct pyaclnn_memory){address, bytes};
    list->items = larger;
}

static void add_block(struct heap *heap, const struct block *block, void *list)
{
    add_memory(list, heap->base + block->offset, block->requested);
}

static void add_mapping(struct block *block, void *given)
{
    struct memory_list *list = given;
    const struct mapping *mapping = (const struct mapping *)block;
    uint8_t *address = list->items[0].address + block->offset; /* see map_memory */
    if (mmap(address, block->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             mapping->physical->descriptor,
             (off_t)(mapping->physical->offset + mapping->from)) == MAP_FAILED) {
        _exit(1);
    }
    add_memory(list, address, block->size);
}

/* Give the process the device's memory at its addresses, and list what is alive. */
static struct memory_list map_memory(struct device *device)
{
    struct memory_list list = {0};
    if (mmap(device->heap.base, device->heap.bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, device->heap.descriptor, 0) == MAP_FAILED) {
        _exit(1);
    }
    add_memory(&list, NULL, 0); /* the base of a reservation, for add_mapping */
    mock_heap_visit(&device->heap, add_block, &list);
    for (struct reservation *space = mock_spaces(); space != NULL; space = space->next) {
        list.items[0].address = space->base;
        mock_blocks_visit(&space->mappings, add_mapping, &list);
    }
    list.items[0].address = NULL;
    return list;
}

/* A kernel need not have an end: it ends with the program. */
static void *watch_program(void *descriptor)
{
    char none;
    while (read(*(const int *)descriptor, &none, 1) < 0 && errno == EINTR) {
    }
    _exit(1);
}

static void run_in_process(struct work *work, int program)
{
    static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
    sigset_t none;
    pthread_t watcher;
    for (size_t i = 0; i < sizeof CRASHES / sizeof CRASHES[0]; i++) {
        signal(CRASHES[i], SIG_DFL);
    }
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    close(work->end.descriptor);
    __fpurge(stdout); /* the program's text */
    if (dup2(work->output, STDOUT_FILENO) < 0 ||
        pthread_create(&watcher, NULL, watch_program, &program) != 0) {
        _exit(1);
    }
    struct memory_list list = map_memory(work->device);
    if (work->points_inside) {
        add_memory(&list, work->copy, work->bytes);
    }
    const struct pyaclnn_run run = {work->arguments,  work->bytes,   work->slot,
                                    work->blocks,     list.items,    list.count,
                                    work->outcome->fault, sizeof work->outcome->fault};
    work->kernel.run(work->kernel.function, &run);
    fflush(stdout);
    work->outcome->finished = true;
    _exit(0);
}

static void wake_up(void *owner)
{
    (void)owner; /* the stream looks after it when it runs next */
}

/* false: the process could not be started. */
static bool start(struct work *work)
{
    int sockets[2];
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED) {
        return false;
    }
    work->output = memfd_create("output of a kernel", MFD_CLOEXEC);
    if (work->output < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        if (work->output >= 0) {
            close(work->output);
        }
        munmap(outcome, sizeof *outcome);
        return false;
    }
    work->outcome = outcome;
    work->end = (struct mock_poll_source){.descriptor = sockets[0], .look = wake_up};
    work->process = mock_fork();
    if (work->process == 0) {
        run_in_process(work, sockets[1]);
    }
    close(sockets[1]);
    mock_poll_source_add(&work->end);
    return work->process > 0;
}

static bool has_ended(const struct work *work)
{
    char none;
    const ssize_t got = recv(work->end.descriptor, &none, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void print_output(int file)
{
    char text[4096];
    ssize_t got;
    lseek(file, 0, SEEK_SET);
    while ((got = read(file, text, sizeof text)) > 0) {
        fwrite(text, 1, (size_t)got, stdout);
    }
}

static aclError fail(struct work *work, const char *reason, const char **text)
{
    snprintf(work->text, sizeof work->text, "kernel %s: %s", work->kernel.name, reason);
    *text = work->text;
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

/* The status of an ended process. */
static aclError status_of(struct work *work, const char **text)
{
    int status = 0;
    char reason[128] = "it ended its process";
    const bool known = waitpid(work->process, &status, 0) == work->process;
    work->process = 0;
    if (work->outcome->fault[0] != '\0') {
        return fail(work, work->outcome->fault, text);
    }
    if (work->outcome->finished) {
        return ACL_SUCCESS;
    }
    if (known && WIFSIGNALED(status)) {
        snprintf(reason, sizeof reason, "it crashed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    }
    return fail(work, reason, text);
}

static bool run(void *given, bool wrong, aclError *failed, const char **text)
{
    struct work *work = given;
    if (work->outcome == NULL) {
        work->blocks -= wrong ? 1u : 0u; /* an injected fault: a block's results are missing */
        if (!start(work)) {
            *failed = fail(work, "its process cannot be started", text);
            return true;
        }
    }
    if (!has_ended(work)) {
        return false;
    }
    *failed = status_of(work, text);
    print_output(work->output);
    return true;
}

static void *again(void *given)
{
    const struct work *work = given;
    struct work *made = malloc(sizeof *made);
    if (made != NULL) {
        *made = *work;
        mock_shared_arguments_use(work->copy);
    }
    return made;
}

static void end(void *given)
{
    struct work *work = given;
    if (work->process > 0) {
        kill(work->process, SIGKILL);
        waitpid(work->process, NULL, 0);
    }
    if (work->outcome != NULL) {
        mock_poll_source_remove(&work->end);
        close(work->end.descriptor);
        close(work->output);
        munmap(work->outcome, sizeof *work->outcome);
    }
    mock_shared_arguments_drop(work->copy);
    free(work);
}

/* ---- launch --------------------------------------------------------------------------------- */

/* The live memory that arguments point to, at multiples of eight bytes: it must not be freed before
 * the kernel has run. */
static size_t find_ranges(int device, const struct work *work, struct mock_range *ranges)
{
    size_t count = 0;
    for (size_t at = 0; at + sizeof(void *) <= work->bytes; at += sizeof(void *)) {
        const void *address;
        struct mock_history history;
        memcpy(&address, work->arguments + at, sizeof address);
        if (mock_devices_may_contain(address) &&
            mock_address_classify(device, address, 0, 1, &history) == MOCK_IN_BLOCK) {
            ranges[count++] = (struct mock_range){address, 1, false, false};
        }
    }
    return count;
}

aclError mock_host_kernel_launch(const struct pyaclnn_kernel *kernel, uint32_t blocks,
                                 aclrtStream stream, const struct mock_kernel_arguments *arguments)
{
    aclError status;
    const struct stream *found = mock_stream_find(stream, true, &status);
    if (found == NULL) {
        return status;
    }
    struct device *device = found->context->device;
    struct work *work = calloc(1, sizeof *work);
    struct mock_host_task task = {.work = work, .run = run, .end = end, .again = again};
    task.ranges = calloc(arguments->bytes / sizeof(void *) + 1, sizeof *task.ranges);
    uint8_t *copy = arguments->on_device ? NULL : mock_shared_arguments(arguments);
    if (work == NULL || task.ranges == NULL || (copy == NULL && !arguments->on_device)) {
        free(work);
        free(task.ranges);
        mock_shared_arguments_drop(copy);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a kernel");
    }
    *work = (struct work){.kernel = *kernel, .device = device, .copy = copy,
                          .arguments = copy == NULL ? arguments->data : copy,
                          .bytes = arguments->bytes, .slot = arguments->slot, .blocks = blocks,
                          .points_inside = arguments->holder_count > 0};
    if (copy == NULL) { /* what they point to is known when they are read */
        task.ranges[0] = (struct mock_range){arguments->data, arguments->bytes, false, false};
        task.range_count = 1;
    } else {
        task.range_count = find_ranges(device->id, work, task.ranges);
    }
    return mock_stream_submit_host_task(stream, &task);
}
