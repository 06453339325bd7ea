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

/* The least limit of a control group and those above it, whose name a line of /proc/self/cgroup has
   behind a word. */
static uint64_t limit_above(const char *line, const char *word, const char *folder,
                            const char *file)
{
    char path[PATH_MAX + 64];
    uint64_t least = UINT64_MAX;
    const char *name = strstr(line, word);
    name = name == NULL ? NULL : name + strlen(word);
    const size_t whole = name == NULL ? 0 : strcspn(name, "\n");
    for (size_t length = whole; length > 1; length--) {
        if (length == whole || name[length] == '/') {
            snprintf(path, sizeof path, "%s%.*s/%s", folder, (int)length, name, file);
            const uint64_t found = number_in(path);
            least = found < least ? found : least;
        }
    }
    return least;
}

/* The limit of the control group of this process: its own or, in a container, the root's. */
static uint64_t group_limit(void)
{
    static const char NEWER[] = "/sys/fs/cgroup", OLDER[] = "/sys/fs/cgroup/memory";
    static const char NEWER_FILE[] = "memory.max", OLDER_FILE[] = "memory.limit_in_bytes";
    char line[PATH_MAX];
    uint64_t least = number_in("/sys/fs/cgroup/memory.max");
    const uint64_t root = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    least = root < least ? root : least;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const bool is_newer = strncmp(line, "0::", 3) == 0;
        const uint64_t newer =
            is_newer ? limit_above(line, "0::", NEWER, NEWER_FILE) : UINT64_MAX;
        const uint64_t older = limit_above(line, ":memory:", OLDER, OLDER_FILE);
        least = newer < least ? newer : least;
        least = older < least ? older : least;
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
