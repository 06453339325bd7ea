/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers as a task of a stream. The bits that a chip draws of a seed are not public: these
 * are of the same distributions, and equal for equal seeds and counters.
 * Source: CANN: runtime core/src/task/task_info/random_num_task.cc. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "data_type.h"
#include "error_message.h"
#include "float16.h"
#include "host_task.h"

static const double TURN = 6.283185307179586;
static const double MOST_DEVIATIONS = 2; /* of a truncated normal distribution */

/* A bijection of 64 bits that mixes them well: the last steps of SplitMix64. */
static uint64_t mixed(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

/* A number from 0 to 1, without 1, of a seed, a place and the number of draws there. */
static double drawn(uint64_t seed, uint64_t place, uint64_t draw)
{
    const uint64_t bits = mixed(mixed(mixed(seed) + place) + draw);
    return (double)(bits >> 11) * 0x1p-53;
}

static double normal(uint64_t seed, uint64_t place, uint64_t draw)
{
    const double radius = sqrt(-2 * log(1 - drawn(seed, place, 2 * draw)));
    return radius * cos(TURN * drawn(seed, place, 2 * draw + 1));
}

static double number(const aclrtRandomNumTaskInfo *info, uint64_t seed, uint64_t place,
                     const double limits[2])
{
    if (info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS) {
        return limits[0] + (limits[1] - limits[0]) * drawn(seed, place, 0);
    }
    double deviations = normal(seed, place, 0);
    const bool truncated =
        info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
    for (uint64_t draw = 1; truncated && fabs(deviations) > MOST_DEVIATIONS; draw++) {
        deviations = normal(seed, place, draw);
    }
    return limits[0] + limits[1] * deviations;
}

static double to_double(aclDataType type, const void *from)
{
    uint16_t narrow;
    float wide;
    if (type == ACL_FLOAT) {
        memcpy(&wide, from, sizeof wide);
        return wide;
    }
    memcpy(&narrow, from, sizeof narrow);
    return type == ACL_FLOAT16 ? mock_float16_to_float(narrow) : mock_bfloat16_to_float(narrow);
}

static void store(aclDataType type, double value, void *to)
{
    const float wide = (float)value;
    if (type == ACL_FLOAT) {
        memcpy(to, &wide, sizeof wide);
        return;
    }
    const uint16_t narrow =
        type == ACL_FLOAT16 ? mock_float16_from_float(wide) : mock_bfloat16_from_float(wide);
    memcpy(to, &narrow, sizeof narrow);
}

/* Read a parameter when the task runs: a value, or what an address holds then. */
static bool read_parameter(const aclrtRandomParaInfo *parameter, void *to, size_t bytes)
{
    void *address;
    if (!parameter->isAddr) {
        memcpy(to, parameter->valueOrAddr, bytes);
        return true;
    }
    memcpy(&address, parameter->valueOrAddr, sizeof address);
    return mock_read_memory(address, to, bytes);
}

static bool run(void *work, bool wrong, aclError *failed, const char **text)
{
    const aclrtRandomNumTaskInfo *info = work;
    const aclrtRandomParaInfo *given = &info->randomNumFuncParaInfo.paramInfo.uniformDisInfo.min;
    const size_t size = mock_data_type_size(info->dataType);
    uint64_t seed = 0, count = 0, first = 0;
    uint8_t bytes[2][sizeof(float)];
    const bool good =
        read_parameter(&info->randomSeed, &seed, sizeof seed) &&
        read_parameter(&info->randomNum, &count, sizeof count) &&
        read_parameter(&given[0], bytes[0], size) && read_parameter(&given[1], bytes[1], size) &&
        (info->randomCounterAddr == NULL ||
         mock_read_memory(info->randomCounterAddr, &first, sizeof first));
    /* The number may be one that device memory has held: whatever was there. */
    const bool live = good && count <= (SIZE_MAX - 1) / size &&
                      mock_is_live(info->randomResultAddr, count * size, true);
    uint8_t *drawn_bytes = live ? malloc(count * size + 1) : NULL;
    if (drawn_bytes != NULL) {
        const double limits[2] = {to_double(info->dataType, bytes[0]),
                                  to_double(info->dataType, bytes[1])};
        for (uint64_t i = 0; i < count; i++) {
            store(info->dataType, wrong ? NAN : number(info, seed, first + i, limits),
                  drawn_bytes + i * size);
        }
    }
    if (drawn_bytes == NULL || !mock_write_memory(info->randomResultAddr, drawn_bytes, count * size)) {
        *failed = ACL_ERROR_RT_SYS_DMA;
        *text = live && drawn_bytes == NULL
                    ? "no host memory for random numbers"
                    : "the memory of random numbers, or of their parameters, is not all live when the "
                      "stream comes to them";
    }
    free(drawn_bytes);
    return true;
}

static void *again(void *work)
{
    aclrtRandomNumTaskInfo *made = malloc(sizeof *made);
    if (made != NULL) {
        memcpy(made, work, sizeof *made);
    }
    return made;
}

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream,
                             void *reserve)
{
    const aclrtRandomNumFuncType type = taskInfo->randomNumFuncParaInfo.funcType;
    const bool narrow = taskInfo->dataType == ACL_FLOAT16 || taskInfo->dataType == ACL_BF16;
    uint64_t count = 0;
    if (reserve != NULL || (unsigned)type > ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "reserve must be NULL, and funcType 0 to 3");
    }
    if (type == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK ||
        (taskInfo->dataType != ACL_FLOAT && !narrow)) {
        return mock_fail(MOCK_NOT_IMPLEMENTED,
                         "the simulated NPU draws numbers of floating point, and no bits of a "
                         "dropout; funcType is %d, dataType %d",
                         (int)type, (int)taskInfo->dataType);
    }
    if (!taskInfo->randomNum.isAddr) {
        memcpy(&count, taskInfo->randomNum.valueOrAddr, sizeof count);
    }
    uint64_t bytes;
    if (__builtin_mul_overflow(count, mock_data_type_size(taskInfo->dataType), &bytes) ||
        !mock_is_on_device("randomResultAddr", taskInfo->randomResultAddr, bytes)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "randomResultAddr is no live device memory");
    }
    aclrtRandomNumTaskInfo *kept = malloc(sizeof *kept);
    struct mock_range *written = malloc(sizeof *written);
    if (kept == NULL || written == NULL) {
        free(kept);
        free(written);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a task");
    }
    *kept = *taskInfo;
    *written = (struct mock_range){taskInfo->randomResultAddr, bytes, true, false};
    const struct mock_host_task task = {
        .work = kept, .run = run, .end = free, .again = again, .ranges = written, .range_count = 1};
    return mock_stream_submit_host_task(stream, &task);
}
