/* SPDX-License-Identifier: Apache-2.0 */
/* Device process that outlives its device. */
#include "kept_process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock.h"
#include "wire.h"
#include "wire_reader.h"

enum { TO_FORGET = 5000 }; /* milliseconds */

static bool keeping;
static struct {
    struct mock_child process;
    int socket, lifeline;
    char *environment;
} kept;

/* Variables that change from test to test; the device process does not look at them later. */
static bool is_ignored(const char *variable)
{
    static const char *const IGNORED[] = {"PYTEST_", "PYACLNN_MOCK_SOC=", "PYACLNN_MOCK_MODE=",
                                          "PYACLNN_MOCK_MEMORY="};
    bool ignored = false;
    for (size_t i = 0; i < sizeof IGNORED / sizeof IGNORED[0]; i++) {
        ignored = ignored || strncmp(variable, IGNORED[i], strlen(IGNORED[i])) == 0;
    }
    return ignored;
}

/* The environment as one text, or NULL: no host memory. */
static char *copy_environment(void)
{
    size_t length = 1;
    for (char **variable = environ; *variable != NULL; variable++) {
        length += is_ignored(*variable) ? 0 : strlen(*variable) + 1;
    }
    char *text = calloc(1, length), *end = text;
    for (char **variable = environ; text != NULL && *variable != NULL; variable++) {
        if (!is_ignored(*variable)) {
            end = stpcpy(stpcpy(end, *variable), "\n");
        }
    }
    return text;
}

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL && text[0] != '\0';
}

/* Code of the user may keep something in the process, and files of it may change. */
static bool runs_foreign_code(void)
{
    return is_set("PYACLNN_MOCK_OPERATORS") || is_set("ASCEND_CUSTOM_OPP_PATH");
}

static void end_kept(void)
{
    if (kept.process.process > 0) {
        close(kept.socket);
        close(kept.lifeline); /* the system kills it */
        mock_child_collect(&kept.process);
        free(kept.environment);
    }
    memset(&kept, 0, sizeof kept);
}

void mock_process_keep(bool keep)
{
    keeping = keep;
    if (!keep) {
        end_kept();
    }
}

static bool is_at_rest(const struct device *device)
{
    bool busy = device->lost || device->channel.outgoing_length > 0;
    for (int kind = 0; kind < MOCK_REQUEST_KINDS; kind++) {
        busy = busy || device->channel.exchanges[kind].busy;
    }
    return !busy;
}

/* Ask the process to give back the memory and the calls of its device. false: it does not. */
static bool forget(struct device *device)
{
    const struct timespec deadline = mock_deadline(TO_FORGET);
    uint8_t *answer;
    size_t length;
    if (!mock_device_request(device, MOCK_FORGET, "", 0, &deadline, &answer, &length)) {
        return false;
    }
    struct mock_reader reader = {answer, length, 0, true};
    const uint32_t status = mock_read_u32(&reader);
    free(answer);
    return reader.ok && status == 0;
}

bool mock_process_detach(struct device *device)
{
    if (!keeping || device->process.process <= 0 || runs_foreign_code() || !is_at_rest(device) ||
        !forget(device)) {
        return false;
    }
    end_kept();
    kept.process = device->process;
    kept.socket = device->channel.socket;
    kept.lifeline = device->lifeline;
    kept.environment = device->environment;
    device->process = (struct mock_child){0};
    device->channel.socket = device->lifeline = -1;
    device->environment = NULL;
    return true;
}

bool mock_process_attach(struct device *device)
{
    free(device->environment);
    device->environment = keeping ? copy_environment() : NULL;
    const bool same = kept.process.process > 0 && kept.environment != NULL &&
                      device->environment != NULL && !runs_foreign_code() &&
                      strcmp(kept.environment, device->environment) == 0;
    siginfo_t end;
    if (!same || mock_child_has_ended(&kept.process, &end)) {
        end_kept();
        return false;
    }
    device->process = kept.process;
    device->channel.socket = kept.socket;
    device->channel.connected = true;
    device->lifeline = kept.lifeline;
    mock_lock_enable_polling();
    free(kept.environment);
    memset(&kept, 0, sizeof kept);
    return true;
}

void mock_process_kept_forked(void)
{
    if (kept.process.process > 0) {
        mock_child_forked(&kept.process);
        close(kept.socket);
        close(kept.lifeline);
        free(kept.environment);
        memset(&kept, 0, sizeof kept);
    }
}
