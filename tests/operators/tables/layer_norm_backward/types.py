# SPDX-License-Identifier: Apache-2.0
"""The tensors of aclnnLayerNormBackward, their types, and for which of them a chip has kernels."""

from collections.abc import Mapping
from itertools import product

from tests.operators.notation import *

__all__ = ["OUTS", "PARAMETERS", "ROWS", "SPLIT", "TENSORS", "WITH_KERNELS", "fails"]

LIST = (F32, F16, BF16)
OUTS = ("gradInputOut", "gradWeightOut", "gradBiasOut")
PARAMETERS = ("weightOptional", "biasOptional")
TENSORS = ("gradOut", "input", "mean", "rstd", *PARAMETERS, *OUTS)
FUSED, SPLIT = (*A2_A3, P950), (P310, P910)
WITH_KERNELS = (*FUSED, *SPLIT)

# Statistics, bias and results have any listed type; none is compared with another.
ROWS = tuple(
    (x, x, mean, rstd, weight, bias, *outs)
    for x, mean, rstd, bias in product(LIST, repeat=4)
    for weight in dict.fromkeys((F32, x))
    for outs in product(LIST, repeat=3)
)
SPLIT_KERNELS = {(F16, F16, F16), (F32, F32, F32), (F16, F32, F32), (F16, F32, F16)}


def fails(chip: str, types: Mapping[str, str]) -> bool | None:
    """Return whether kernels for the dtypes are missing, which phase 1 does not detect."""
    if chip in FUSED:
        return False
    if chip == P310B or types["input"] == BF16:
        return True
    mean, rstd, weight = types["mean"], types["rstd"], types["weightOptional"]
    cast = mean != rstd or (weight == F32 and mean != F32)
    if (types["input"], F32 if cast else mean, weight) not in SPLIT_KERNELS:
        return True
    # Nobody knows which casts to and from bfloat16 these chips have.
    return None if BF16 in types.values() else False
