# SPDX-License-Identifier: Apache-2.0
"""Libraries with CANN's names whose functions do nothing: what is left is the cost of calling.

They are made from the headers by the benchmark itself, together with a C function that makes the
same chain of calls as the others.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.bindgen.catalogued import phases
from pyaclnn.bindgen.reader import read
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock import includedir
from tests.releases import OLDEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.bindgen.declarations import Function

__all__ = ["build"]

_STUBS = Path(__file__).parents[2] / "include_stubs"
_FILES = {"runtime": "libascendcl.so", "base": "libnnopbase.so", "operators": "libopapi.so"}

# The minimum for a caller: handles that are not NULL, distinct memory.
_BODIES = {
    "aclrtCreateStream": "*stream = object;",
    "aclrtGetCurrentContext": "*context = object;",
    "aclrtGetDeviceCount": "*count = 1;",
    "aclrtGetDevice": "*deviceId = 0;",
    "aclrtMalloc": "*devPtr = malloc(size);",
    "aclrtFree": "free(devPtr);",
}

# The operators that are measured, of which the catalogue has the signatures.
_OPERATORS = (
    *("aclnnLayerNormBackward", "aclnnRmsNormGrad", "aclnnLayerNorm", "aclnnForeachNeg"),
    *("aclnnAdd", "aclnnCast", "aclnnInplaceCopy"),
)

_CHAIN = """
static aclTensor *tensor(const int64_t *dims, const int64_t *strides, uint64_t rank)
{
    return aclCreateTensor(dims, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, rank, object);
}

static const int64_t full[] = {64, 512}, rows[] = {64, 1}, columns[] = {512};
static const int64_t full_strides[] = {512, 1}, ones[] = {1, 1};

void layer_norm_backward_chain(long times)
{
    const bool flags[] = {true, true, true};
    while (times-- > 0) {
        aclTensor *t[9];
        for (int i = 0; i < 9; i++) {
            t[i] = i == 2 || i == 3   ? tensor(rows, ones, 2)
                   : i < 2 || i == 6 ? tensor(full, full_strides, 2)
                                     : tensor(columns, ones, 1);
        }
        aclIntArray *shape = aclCreateIntArray(columns, 1);
        aclBoolArray *mask = aclCreateBoolArray(flags, 3);
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        aclnnLayerNormBackwardGetWorkspaceSize(t[0], t[1], shape, t[2], t[3], t[4], t[5], mask,
                                               t[6], t[7], t[8], &size, &executor);
        aclnnLayerNormBackward(NULL, size, executor, NULL);
        for (int i = 0; i < 9; i++) {
            aclDestroyTensor(t[i]);
        }
        aclDestroyIntArray(shape);
        aclDestroyBoolArray(mask);
    }
}

void foreach_neg_chain(long times)
{
    while (times-- > 0) {
        const aclTensor *t[2][16];
        for (int i = 0; i < 32; i++) {
            t[i / 16][i % 16] = tensor(columns, ones, 1);
        }
        aclTensorList *x = aclCreateTensorList(t[0], 16), *out = aclCreateTensorList(t[1], 16);
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        aclnnForeachNegGetWorkspaceSize(x, out, &size, &executor);
        aclnnForeachNeg(NULL, size, executor, NULL);
        aclDestroyTensorList(x);
        aclDestroyTensorList(out);
    }
}

void rms_norm_grad_chain(long times)
{
    while (times-- > 0) {
        aclTensor *t[6];
        for (int i = 0; i < 6; i++) {
            t[i] = i == 2             ? tensor(rows, ones, 2)
                   : i == 3 || i == 5 ? tensor(columns, ones, 1)
                                      : tensor(full, full_strides, 2);
        }
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        aclnnRmsNormGradGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], &size, &executor);
        aclnnRmsNormGrad(NULL, size, executor, NULL);
        for (int i = 0; i < 6; i++) {
            aclDestroyTensor(t[i]);
        }
    }
}
"""


def build(folder: Path) -> Path:
    """Build the libraries, and ``libchain.so`` with the chains in C.

    Args:
        folder: Where to.

    Returns:
        The folder, good for ``select_backend``.
    """
    declarations = read(_STUBS)
    operators = [f for name in _OPERATORS for f in phases(catalogue()[name])]
    headers = [*declarations.headers, *dict.fromkeys(f.header for f in operators)]
    head = [*(f'#include "{header}"' for header in headers), "#include <stdlib.h>"]
    head.append("static char object[64];")
    for library, file in _FILES.items():
        _compile(
            folder / file, [*head, *_functions([*declarations.functions, *operators], library)]
        )
    needs = [f"-L{folder}", f"-Wl,-rpath,{folder}", *(f"-l:{file}" for file in _FILES.values())]
    _compile(folder / "libchain.so", [*head, _CHAIN], *needs)
    return folder


def _functions(functions: list[Function], library: str) -> Iterator[str]:
    for function in functions:
        if function.library == library and not function.variadic and function.since == OLDEST:
            yield f"{function.signature(function.name)} {{ {_body(function)} }}"


def _body(function: Function) -> str:
    unused = "".join(f"(void)({p.name});" for p in function.parameters)
    done = _BODIES.get(function.name, "")
    if function.operator is not None:
        done = "*workspaceSize = 0; *executor = (aclOpExecutor *)object;"
    if function.returns == "void":
        return unused + done
    return unused + done + ("return (void *)object;" if "*" in function.returns else "return 0;")


def _compile(output: Path, lines: list[str], *needs: str) -> None:
    source = output.with_suffix(".c")
    source.write_text("\n".join(lines), encoding="utf-8")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = ["-std=c11", "-O2", "-shared", "-fPIC", f"-I{includedir()}", "-o", str(output)]
    subprocess.run([*compiler, *options, str(source), *needs], check=True)
