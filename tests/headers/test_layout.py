# SPDX-License-Identifier: Apache-2.0
"""Sizes and offsets of the structures that cross the boundary, on 64-bit machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .stub_tree import LANGUAGES, LEVELS, compile_all

if TYPE_CHECKING:
    from pathlib import Path

# type -> size, then its members in order with their offsets.
_CONFIG = {
    "reserved": 0,
    "hcclBufferSize": 24,
    "hcclDeterministic": 28,
    "hcclCommName": 32,
    "hcclUdi": 160,
    "hcclOpExpansionMode": 288,
    "hcclRdmaTrafficClass": 292,
    "hcclRdmaServiceLevel": 296,
}
_BOTH: dict[str, tuple[int, dict[str, int]]] = {
    "aclError": (4, {}),
    "aclnnStatus": (4, {}),
    "aclFloat16": (2, {}),
    "bool": (1, {}),
    "aclDataType": (4, {}),
    "aclFormat": (4, {}),
    "aclrtMemMallocPolicy": (4, {}),
    "aclrtStream": (8, {}),
    "aclCANNPackageVersion": (
        512,
        {
            "version": 0,
            "majorVersion": 128,
            "minorVersion": 192,
            "releaseVersion": 256,
            "patchVersion": 320,
            "reserved": 384,
        },
    ),
    "aclrtUtilizationInfo": (
        24,
        {
            "cubeUtilization": 0,
            "vectorUtilization": 4,
            "aicpuUtilization": 8,
            "memoryUtilization": 12,
            "utilizationExtend": 16,
        },
    ),
    "aclrtMemLocation": (8, {"id": 0, "type": 4}),
    "aclrtPtrAttributes": (28, {"location": 0, "pageSize": 8, "rsv": 12}),
    "aclrtPhysicalMemProp": (
        32,
        {"handleType": 0, "allocationType": 4, "memAttr": 8, "location": 12, "reserve": 24},
    ),
    "aclrtMallocAttrValue": (8, {"moduleId": 0, "deviceId": 0, "rsv": 0}),
    "aclrtMallocAttribute": (12, {"attr": 0, "value": 4}),
    "aclrtMallocConfig": (16, {"attrs": 0, "numAttrs": 8}),
    "HcclCommConfig": (300, _CONFIG),
    "aclrtStreamConfigHandle": (32, {"workptr": 0, "workSize": 8, "flag": 16, "priority": 24}),
}
_NEWER: dict[str, tuple[int, dict[str, int]]] = {
    "HcclCommConfig": (
        2248,
        {
            **_CONFIG,
            "hcclWorldRankID": 300,
            "hcclJobID": 304,
            "aclGraphZeroCopyEnable": 312,
            "hcclExecTimeOut": 316,
            "hcclAlgo": 320,
            "hcclRetryEnable": 1920,
            "hcclRetryParams": 1970,
            "hcclBufferName": 2098,
            "hcclQos": 2228,
            "hcclSymWinMaxMemSizePerRank": 2232,
            "hcclChannelSqDepth": 2240,
        },
    ),
    "aclrtMallocAttrValue": (8, {"moduleId": 0, "deviceId": 0, "vaFlag": 0, "rsv": 0}),
    "aclrtUuid": (16, {"bytes": 0}),
    "aclrtMemUsageInfo": (112, {"name": 0, "curMemSize": 32, "memPeakSize": 40, "reserved": 48}),
    "aclrtMemcpyBatchAttr": (32, {"dstLoc": 0, "srcLoc": 8, "rsv": 16}),
    "aclrtRandomParaInfo": (16, {"isAddr": 0, "valueOrAddr": 1, "size": 9, "rsv": 10}),
    "aclrtRandomNumFuncParaInfo": (36, {"funcType": 0, "paramInfo": 4}),
    "aclrtRandomNumTaskInfo": (
        104,
        {
            "dataType": 0,
            "randomNumFuncParaInfo": 4,
            "randomParaAddr": 40,
            "randomResultAddr": 48,
            "randomCounterAddr": 56,
            "randomSeed": 64,
            "randomNum": 80,
            "rsv": 96,
        },
    ),
    "aclrtMemAccessDesc": (24, {"flags": 0, "location": 4, "rsv": 12}),
    "aclrtIpcEventHandle": (64, {"reserved": 0}),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_structures_have_the_published_layout(language: str, level: int, tmp_path: Path) -> None:
    table = _BOTH if level == 801 else _BOTH | _NEWER
    lines = [
        f"#define ACL_STUBS_CANN {level}",
        "#include <assert.h>",
        "#include <stddef.h>",
        '#include "acl/acl.h"',
        '#include "aclnn/acl_meta.h"',
        '#include "hccl/hccl.h"',
    ]
    for name, (size, members) in table.items():
        lines.append(f'static_assert(sizeof({name}) == {size}, "{name}");')
        lines += [
            f'static_assert(offsetof({name}, {member}) == {offset}, "{name}.{member}");'
            for member, offset in members.items()
        ]
    compile_all(tmp_path, language, ["\n".join([*lines, ""])])
