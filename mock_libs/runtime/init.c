/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, versions and what else belongs to the process. */
#include "state.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By this symbol a program can tell the simulated NPU from a real CANN. */
extern const char pyaclnn_mock_marker[] __attribute__((visibility("default")));
const char pyaclnn_mock_marker[] = "pyaclnn simulated NPU";

static uint64_t initialisations;
static bool finalised, configured;
static uint64_t configuration;

/* FNV-1a over the content of a configuration file; no file counts as empty content. */
static aclError hash_configuration(const char *path, uint64_t *hash)
{
    *hash = 14695981039346656037u;
    if (path == NULL || path[0] == '\0') {
        return ACL_SUCCESS;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot open '%s': %s", path,
                         strerror(errno));
    }
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file)) {
        *hash = (*hash ^ (uint64_t)byte) * 1099511628211u;
    }
    const bool readable = ferror(file) == 0; /* a directory can be opened, but not read */
    fclose(file);
    return readable ? ACL_SUCCESS
                    : mock_fail(ACL_ERROR_INVALID_FILE, "aclInit: cannot read '%s'", path);
}

static aclError initialise(const char *path)
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
    if (mock_chip() == NULL) {
        return ACL_ERROR_INTERNAL_ERROR;
    }
    configured = true;
    configuration = hash;
    initialisations = 1;
    finalised = false;
    return ACL_SUCCESS;
}

aclError aclInit(const char *configPath)
{
    MOCK_GUARDED(initialise(configPath));
}

static aclError finalise(void)
{
    if (finalised) {
        mock_violate(MOCK_FINALIZED_TWICE, "process", NULL, NULL,
                     "there was no aclInit since the last aclFinalize");
        return mock_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
    }
    mock_report_alive(MOCK_ALIVE_AT_FINALIZE);
    finalised = true;
    initialisations = 0;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    MOCK_GUARDED(finalise());
}

/* ---- versions ----------------------------------------------------------------------------- */

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: a pointer is NULL");
    }
    /* The interface version of CANN 8.1, whose functions the simulated NPU exports. */
    *majorVersion = 1;
    *minorVersion = 13;
    *patchVersion = 0;
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if (version == NULL || (int)name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: %s",
                         version == NULL ? "version is NULL" : "no such package");
    }
    memset(version, 0, sizeof *version);
    snprintf(version->version, sizeof version->version, "8.1.RC1.simulated");
    snprintf(version->majorVersion, sizeof version->majorVersion, "8");
    snprintf(version->minorVersion, sizeof version->minorVersion, "1");
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "RC1");
    snprintf(version->patchVersion, sizeof version->patchVersion, "simulated");
    return ACL_SUCCESS;
}

/* ---- attributes and data types ------------------------------------------------------------ */

static bool has_attribute(const struct chip *chip, aclCannAttr attribute)
{
    const bool first_generation = strcmp(chip->family, "910b") != 0 &&
                                  strcmp(chip->family, "910_93") != 0 &&
                                  strcmp(chip->family, "950") != 0;
    return attribute == ACL_CANN_ATTR_JIT_COMPILE || !first_generation;
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    static const aclCannAttr EVERY[] = {ACL_CANN_ATTR_JIT_COMPILE, ACL_CANN_ATTR_INF_NAN,
                                        ACL_CANN_ATTR_BF16};
    const struct chip *chip = mock_chip();
    if (cannAttrList == NULL || num == NULL || chip == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList: a pointer is NULL");
    }
    *cannAttrList = EVERY;
    *num = has_attribute(chip, ACL_CANN_ATTR_BF16) ? 3 : 1;
    return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    const struct chip *chip = mock_chip();
    if (value == NULL || chip == NULL || (int)cannAttr < ACL_CANN_ATTR_INF_NAN ||
        cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttribute: %s",
                         value == NULL ? "value is NULL" : "no such attribute");
    }
    *value = has_attribute(chip, cannAttr) ? 1 : 0;
    return ACL_SUCCESS;
}

size_t aclDataTypeSize(aclDataType dataType)
{
    return mock_data_type_size(dataType);
}

size_t mock_data_type_size(aclDataType data_type)
{
    switch (data_type) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
        return 0;
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
        return 4;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 8; /* CANN answers 8 for everything else, unknown numbers included */
    }
}

float aclFloat16ToFloat(aclFloat16 value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000u) << 16;
    const uint32_t exponent = (value >> 10) & 0x1Fu;
    const uint32_t fraction = value & 0x3FFu;
    uint32_t bits;
    if (exponent == 0x1F) {
        bits = sign | 0x7F800000u | fraction << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        const float magnitude = (float)fraction / 16777216.0f; /* subnormal: fraction · 2^-24 */
        memcpy(&bits, &magnitude, sizeof bits);
        bits |= sign;
    }
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Rounds to the nearest, ties to even. */
aclFloat16 aclFloatToFloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return (aclFloat16)(sign | 0x7E00u);
    }
    if (magnitude >= 0x477FF000u) { /* 65520 and above round to infinity */
        return (aclFloat16)(sign | 0x7C00u);
    }
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) { /* below half of the smallest subnormal */
        return (aclFloat16)sign;
    }
    const uint32_t fraction = exponent < 113 ? (magnitude & 0x7FFFFFu) | 0x800000u
                                             : magnitude - (112u << 23);
    const uint32_t shift = exponent < 113 ? 126 - exponent : 13;
    const uint32_t kept = fraction >> shift;
    const uint32_t rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
    const uint32_t up = rest > half || (rest == half && (kept & 1u)) ? 1 : 0;
    return (aclFloat16)(sign | (kept + up));
}

/* ---- log ---------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...)
{
    static const char *const NAMES[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    const char *threshold = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    const int least = threshold == NULL || threshold[0] == '\0' ? ACL_ERROR : atoi(threshold);
    if ((int)logLevel < least || (int)logLevel < ACL_DEBUG || logLevel > ACL_ERROR) {
        return;
    }
    fprintf(stderr, "[%s] %s:%u %s: ", NAMES[logLevel], file, line, func);
    va_list arguments;
    va_start(arguments, fmt);
    vfprintf(stderr, fmt, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
