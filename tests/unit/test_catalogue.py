# SPDX-License-Identifier: Apache-2.0
"""The table of all operators says what CANN's headers and documents say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from pyaclnn.bindgen.catalogued import headers_of, phases
from pyaclnn.cann.headers import read_header
from pyaclnn.facts.operators import catalogue as module
from pyaclnn.facts.operators.catalogue import Entry, catalogue
from pyaclnn.mock import includedir

OLD = [entry for entry in catalogue().values() if "8.1" in entry.releases]

# Typed from CANN's headers, and from what its documents and sources say is written.
SIGNATURES = {
    "aclnnAdd": "const aclTensor *self, const aclTensor *other, const aclScalar *alpha, "
    "aclTensor *out>",
    "aclnnCat": "const aclTensorList *tensors, int64_t dim, aclTensor *out>",
    "aclnnInplaceFillScalar": "aclTensor *selfRef=, const aclScalar *value",
    "aclnnTopk": "const aclTensor *self, int64_t k, int64_t dim, bool largest, bool sorted, "
    "aclTensor *valuesOut>, aclTensor *indicesOut>",
    "aclnnRmsNormGrad": "const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, "
    "const aclTensor *gamma, const aclTensor *dxOut>, const aclTensor *dgammaOut>",
    "aclnnMatmul": "const aclTensor *self, const aclTensor *mat2, aclTensor *out>, "
    "int8_t cubeMathType",
    "aclnnCast": "const aclTensor *self, aclDataType dtype, aclTensor *out>",
    "aclnnSplitTensor": "const aclTensor *self, uint64_t splitSections, int64_t dim, "
    "aclTensorList *out>",
    # Exceptions to every rule: const and written, not const and read only, read although "output".
    "aclnnAdvanceStep": "const aclTensor *inputTokens=, const aclTensor *sampledTokenIds, "
    "const aclTensor *inputPositions=, const aclTensor *seqLens=, const aclTensor *slotMapping=, "
    "const aclTensor *blockTables, int64_t numSeqs, int64_t numQueries, int64_t blockSize",
    "aclnnBatchNormElemt": "const aclTensor *input, const aclTensor *weight, "
    "const aclTensor *bias, aclTensor *mean, aclTensor *invstd, double eps, aclTensor *output>",
    "aclnnSigmoidBackward": "const aclTensor *gradOutput, const aclTensor *output, "
    "aclTensor *gradInput>",
}
CONST = {
    "aclnnMoeDistributeDispatchV3": ["Num"],
    "aclnnMoeDistributeCombineV3": ["Alpha1Optional", "Alpha2Optional", "VOptional", "Num"],
    "aclnnMoeDistributeCombineAddRmsNormV2": [
        "Alpha1Optional",
        "Alpha2Optional",
        "VOptional",
        "Num",
    ],
    "aclnnMoeDistributeCombineV4": ["Alpha1Optional", "Alpha2Optional", "VOptional", "Num"],
}
"""Parameters whose names begin with a word of C: what follows ``constExpert``, in their order."""
MARKS = {"in": "", "out": ">", "inout": "="}


def text_of(entry: Entry) -> str:
    return ", ".join(
        f"{p.c_type}{'' if p.c_type.endswith('*') else ' '}{p.name}{MARKS[p.direction]}"
        for p in entry.parameters
    )


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_line_says_what_the_header_says_and_what_is_written(name: str) -> None:
    assert text_of(catalogue()[name]) == SIGNATURES[name]


@pytest.mark.parametrize("name", CONST)
def test_a_name_keeps_its_first_word(name: str) -> None:
    names = [parameter.name for parameter in catalogue()[name].parameters]
    known = [f"constExpert{end}" for end in CONST[name]]
    assert [name for name in names if re.match("(const)?Expert", name)] == known
    (header,) = headers_of(phases(catalogue()[name])).values()
    assert all(re.search(rf"\b{name}\b", header) for name in known)


def test_it_has_every_operator_of_each_release() -> None:
    releases = Counter(release for entry in catalogue().values() for release in entry.releases)
    # Three are made by CANN itself while it is built; torch-npu alone calls one of 9. The last were
    # found in documents alone.
    assert releases == {"8.1": 771, "9": 676 + 173 + 3 + 1, "9.1": 93}
    assert "aclnnNoSuchOperator" not in catalogue()


def test_it_counts_what_was_counted_in_the_headers() -> None:
    kinds = Counter(p.kind for entry in OLD for p in entry.parameters)
    objects = {"t": 2413, "T": 231, "a": 173, "A": 7, "I": 233, "B": 6, "F": 3, "s": 80}
    numbers = {"q": 453, "i": 23, "c": 19, "Q": 5, "b": 189, "d": 137, "f": 41, "y": 12}
    assert kinds == objects | numbers
    lengths = [len(entry.parameters) for entry in OLD]
    assert (min(lengths), max(lengths)) == (1, 42)
    assert len(catalogue()["aclnnFusedInferAttentionScoreV3"].parameters) == max(lengths)


def test_families_are_as_large_as_was_counted_and_all_write_something() -> None:
    assert sum(e.name.startswith("aclnnInplace") for e in OLD) == 128
    assert sum(e.name.startswith("aclnnForeach") for e in OLD) == 69
    assert sum(p.name.endswith("Ref") for e in OLD for p in e.parameters) == 146
    assert sum("Optional" in p.name for e in OLD for p in e.parameters) == 324
    assert all(any(p.written for p in e.parameters) for e in OLD)
    assert not [p for e in OLD for p in e.parameters if p.written and p.kind not in "tTaAIFBs"]


def test_it_agrees_with_the_headers_written_for_this_project() -> None:
    compared = 0
    for path in sorted((includedir() / "aclnnop").glob("*.h")):
        for declared in read_header(path).declarations:
            entry = catalogue().get(declared.name.removesuffix("GetWorkspaceSize"))
            if entry is None or entry.name == declared.name:
                continue
            # A number that says const is the same number.
            types = tuple(re.sub(r"^const (?=\w+$)", "", t) for t in declared.types[:-2])
            assert types == tuple(p.c_type for p in entry.parameters), declared.name
            assert path.name == entry.header
            compared += 1
    assert compared >= 10


def test_the_build_can_read_it_without_the_package() -> None:
    code = (
        "import runpy, sys; found = runpy.run_path(sys.argv[1])['catalogue']()\n"
        "assert 'aclnnAdd' in found and not [m for m in sys.modules if m.startswith('pyaclnn')]"
    )
    options = ["-S", "-W", "error"]
    subprocess.run([sys.executable, *options, "-c", code, str(module.__file__)], check=True)
