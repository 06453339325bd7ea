# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import includedir

from .stub_tree import HEADERS, LANGUAGES, LEVELS, compile_all

if TYPE_CHECKING:
    from pathlib import Path

# A program in the manner of the operators' published examples.
_PROGRAM = """
#include "acl/acl.h"
#include "aclnnop/aclnn_rms_norm_grad.h"

int run(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);

int run(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream)
{
    int64_t dims[2] = {2, 16};
    void *device = NULL;
    if (aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        ACL_APP_LOG(ACL_ERROR, "no memory");
        ACL_APP_LOG(ACL_ERROR, "no memory for %d bytes", 64);
        return 1;
    }
    aclTensor *tensor =
        aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, device);
    aclnnStatus status = OK;
    status = aclnnRmsNormGrad(workspace, size, executor, stream);
    if (status == ACLNN_SUCCESS) {
        status = aclDestroyTensor(tensor);
    }
    return status == OK ? 0 : 2;
}
"""

# Errors that only C++ finds: deduced types, and enumerators qualified by their type.
_DEDUCED = """
#include "aclnnop/aclnn_rms_norm.h"

aclnnStatus last(aclOpExecutor *executor)
{
    auto status = OK;
    status = aclnnRmsNorm(nullptr, 0, executor, nullptr);
    auto code = ACL_SUCCESS;
    code = ACL_ERROR_RT_AICORE_EXCEPTION;
    auto format = aclFormat::ACL_FORMAT_NCDHW;
    return format == ACL_FORMAT_ND ? status : code;
}
"""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_compiles_alone_and_twice(header: str, language: str, tmp_path: Path) -> None:
    include = f'#include "{header}"\n'
    units = [f"#define ACL_STUBS_CANN {level}\n{include}{include}" for level in LEVELS]
    compile_all(tmp_path, language, units)


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_newest_release_is_the_default(language: str, tmp_path: Path) -> None:
    text = '#include <assert.h>\n#include "{}"\nstatic_assert(ACL_STUBS_CANN == 901, "default");\n'
    compile_all(tmp_path, language, [text.format(header) for header in HEADERS])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_written_for_cann_compiles(language: str, tmp_path: Path) -> None:
    compile_all(
        tmp_path,
        language,
        [f"#define ACL_STUBS_CANN {level}\n{_PROGRAM}" for level in LEVELS],
        include=includedir(),
    )


def test_status_constants_serve_deduced_variables(tmp_path: Path) -> None:
    compile_all(tmp_path, "c++17", [_DEDUCED], include=includedir())
