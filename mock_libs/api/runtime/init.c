/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "error_message.h"
#include "hash.h"
#include "live_objects.h"
#include "named_callback.h"
#include "violation.h"

enum { LARGEST = 16 << 20 };

static uint64_t initialisations;
static bool finalised, configured;
static uint64_t configuration;
static char *content; /* of the file of the latest aclInit */
static size_t content_length;

static bool keep_content(const uint8_t *part, size_t length)
{
    char *larger = realloc(content, content_length + length + 1);
    if (larger != NULL) {
        content = larger;
        memcpy(content + content_length, part, length);
        content_length += length;
        content[content_length] = '\0';
    }
    return larger != NULL;
}

/* Hash the content of a configuration file; no file counts as empty content. */
static aclError hash_configuration(const char *path, uint64_t *hash)
{
    *hash = MOCK_HASH_EMPTY;
    content_length = 0;
    if (!keep_content((const uint8_t *)"", 0)) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for the configuration");
    }
    if (path == NULL || path[0] == '\0') {
        return ACL_SUCCESS;
    }
    /* A pipe would be waited for, with the lock. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (file < 0) {
        return mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot open '%.300s': %s", path,
                         strerror(errno));
    }
    uint8_t part[4096];
    const bool pipe = fstat(file, &status) != 0 || S_ISFIFO(status.st_mode);
    ssize_t got = pipe ? -1 : read(file, part, sizeof part);
    for (; got > 0 && content_length <= LARGEST; got = read(file, part, sizeof part)) {
        *hash = mock_hash(*hash, part, (size_t)got);
        if (!keep_content(part, (size_t)got)) {
            break;
        }
    }
    close(file);
    if (content_length > LARGEST) {
        return mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: '%.300s' has more than %d MiB", path,
                         LARGEST >> 20);
    }
    return got == 0 ? ACL_SUCCESS /* a directory can be opened, but not read */
                    : mock_fail(ACL_ERROR_INVALID_FILE,
                                "aclInit: cannot read '%.300s'; it must be an ordinary file", path);
}

static int call_initialising(mock_callback function, void *data, const void *text)
{
    return ((aclInitCallbackFunc)function)(text, content_length, data);
}

static int call_finalising(mock_callback function, void *data, const void *none)
{
    (void)none;
    return ((aclFinalizeCallbackFunc)function)(data);
}

aclError aclInit(const char *path)
{
    uint64_t hash;
    if (initialisations > 0) {
        initialisations++;
        return mock_fail(ACL_ERROR_REPEAT_INITIALIZE,
                         "aclInit was called before in this process; the code may be ignored");
    }
    const aclError status = hash_configuration(path, &hash);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (configured && hash != configuration) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "aclInit: the configuration differs from that of the first aclInit of "
                         "this process, which stays in force");
    }
    if (mock_device_chip() == NULL) {
        return ACL_ERROR_INTERNAL_ERROR;
    }
    configured = true;
    configuration = hash;
    initialisations = 1;
    finalised = false;
    return mock_callbacks_call(MOCK_ON_INIT, UINTPTR_MAX, call_initialising, content);
}

static aclError finalise(void)
{
    if (finalised) {
        mock_violate(MOCK_FINALIZED_TWICE, "process", NULL, NULL,
                     "there was no aclInit since the last aclFinalize");
        return mock_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
    }
    mock_live_objects_report(MOCK_ALIVE_AT_FINALIZE);
    finalised = true;
    initialisations = 0;
    return mock_callbacks_call(MOCK_ON_FINALIZE, UINTPTR_MAX, call_finalising, NULL);
}

aclError aclFinalize(void)
{
    return finalise();
}

aclError aclFinalizeReference(uint64_t *left)
{
    aclError status = ACL_SUCCESS;
    if (initialisations > 1) {
        initialisations--;
    } else if (initialisations == 1 || finalised) {
        status = finalise();
    } else {
        status = mock_fail(ACL_ERROR_REPEAT_FINALIZE, "there was no aclInit before");
    }
    if (left != NULL) {
        *left = initialisations;
    }
    return status;
}
