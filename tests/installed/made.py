# SPDX-License-Identifier: Apache-2.0
"""A small installation of CANN, made as CANN 8.1 lays it out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HEADERS", "TAIL", "declare", "make"]

TBE = "opp/built-in/op_impl/ai_core/tbe"
HEADERS = f"{TBE}/op_api/include/aclnnop"
TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor"
PHASE_2 = "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream"


def declare(root: Path, file: str, operator: str, parameters: str) -> None:
    """Write a header with an operator."""
    folder = root / HEADERS
    folder.mkdir(parents=True, exist_ok=True)
    first = f"aclnnStatus {operator}GetWorkspaceSize({parameters}, {TAIL});"
    (folder / file).write_text(f"{first}\naclnnStatus {operator}({PHASE_2});\n", encoding="utf-8")


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")


def _port(name: str, dtypes: str, presence: str = "required") -> dict[str, str]:
    return {"name": name, "dtype": dtypes, "format": "ND,ND", "paramType": presence}


def make(root: Path) -> Path:
    """Make the installation: two chips, three kernels, binaries for one chip."""
    gradient = (
        "const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma"
    )
    outs = "const aclTensor *dxOut, const aclTensor *dgammaOut"
    declare(root, "aclnn_rms_norm_grad.h", "aclnnRmsNormGrad", f"{gradient}, {outs}")
    tensors = "const aclTensor *self, const aclTensor *other"
    declare(root, "aclnn_add.h", "aclnnAdd", f"{tensors}, const aclScalar *alpha, aclTensor *out")
    declare(root, "aclnn_own.h", "aclnnOwn", "const aclTensorList *xs, double from, aclTensor *y")
    wide = "float16,bfloat16"
    lists = {
        "RmsNormGrad": {
            **{f"input{n}": _port(name, wide) for n, name in enumerate(("dy", "x"))},
            "input2": _port("rstd", "float,float"),
            "input3": _port("gamma", "float16,float", "optional"),
            "output0": _port("dx", wide),
            "output1": _port("dgamma", "float,float"),
            "attr": {"list": "epsilon,mode"},
            "attr_epsilon": {"type": "float", "defaultValue": "1e-6"},
            "attr_mode": {"type": "int"},
        },
        "Add": {"input0": _port("x1", wide), "input1": _port("x2", wide, "dynamic")},
    }
    _write(root / f"{TBE}/config/ascend910b/aic-ascend910b-ops-info.json", lists)
    _write(root / f"{TBE}/config/ascend310p/aic-ascend310p-ops-info.json", {"Add": lists["Add"]})
    _write(root / f"{TBE}/config/ascend310b/aic-ascend310b-ops-info.json", "{ damaged")
    keys = ["RmsNormGrad/d=0,p=1/1,2/1,2/0,2/1,2/1,2/0,2"]
    binaries = {"RmsNormGrad": {"binaryList": [{"simplifiedKey": keys, "binPath": "x.o"}]}}
    _write(root / f"{TBE}/kernel/config/ascend910b/binary_info_config.json", binaries)
    chip = "[version]\nSoC_version=Ascend910B3\nShort_SoC_version=Ascend910B\n"
    _write(root / "x86_64-linux/data/platform_config/Ascend910B3.ini", chip)
    return root
