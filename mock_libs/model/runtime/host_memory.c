/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host can give to a simulated device. */
#include "host_memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "variable.h"

enum { MIB = 1 << 20, PIECE = 64 * MIB, LEAST_MIB = 64, MOST_MIB = 1 << 24 };

/* The number in a file, or UINT64_MAX: there is no such file, or it says "max". */
static uint64_t number_in(const char *path)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    const bool good = file != NULL && fscanf(file, "%llu", &number) == 1;
    if (file != NULL) {
        fclose(file);
    }
    return good ? number : UINT64_MAX;
}

/* The limit of the control group of this process: its own or, in a container, the root's. */
static uint64_t group_limit(void)
{
    char line[PATH_MAX], path[PATH_MAX + 64];
    uint64_t least = number_in("/sys/fs/cgroup/memory.max");
    const uint64_t older = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    least = older < least ? older : least;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *name = strncmp(line, "0::", 3) == 0 ? line + 3 : NULL;
        for (size_t length = name == NULL ? 0 : strcspn(name, "\n"); length > 1; length--) {
            if (length == strcspn(name, "\n") || name[length] == '/') {
                snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/memory.max", (int)length, name);
                const uint64_t found = number_in(path);
                least = found < least ? found : least;
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return least;
}

struct mock_memory_limit mock_host_memory(void)
{
    static const char CHOSEN[] = ", and PYACLNN_MOCK_MEMORY allows no more";
    static const char MACHINE[] =
        ", half of what this machine has; PYACLNN_MOCK_MEMORY chooses another number of MiB";
    static const char GROUP[] = ", half of what this container (control group) may have; "
                                "PYACLNN_MOCK_MEMORY chooses another number of MiB";
    const long chosen = mock_variable_number("PYACLNN_MOCK_MEMORY", 0, LEAST_MIB, MOST_MIB);
    if (chosen != 0) {
        return (struct mock_memory_limit){chosen < 0 ? 0 : (uint64_t)chosen * MIB, CHOSEN};
    }
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    const uint64_t group = group_limit();
    const uint64_t half = (group < machine ? group : machine) / 2 / PIECE * PIECE;
    const uint64_t least = (uint64_t)LEAST_MIB * MIB;
    return (struct mock_memory_limit){half < least ? least : half,
                                      group < machine ? GROUP : MACHINE};
}
