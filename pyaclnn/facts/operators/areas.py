# SPDX-License-Identifier: Apache-2.0
"""The area of an operator, which since CANN 8.5 is the library that has it: ``libopapi_nn.so``.

It follows from the name: norms are in the area nn (CANN: ops-nn norm); the others are in the areas
of the repositories, inferred from what an operator computes. The build reads this too, before
the package can be imported, so that it imports nothing of the package.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["area_of"]

_TRANSFORMER: Final = (
    "Attention|FFN|Nsa|Mla|Moe|RotaryPos|Rope|Grouped(Mat[mM]ul|Quant)|QuantGroupedMatmul"
    "|AllReduce|AllGather|AlltoAll|ReduceScatter|Distribute|Elastic|Swin|RelPosBias"
)
_CV: Final = (
    "MultiScaleDeformable|Upsample|Resize|GridSampler|AffineGrid|Roi|I[oO][uU]$|NonMaxSuppression"
    "|BackgroundReplace|BlendImages|Mrgba|ThreeInterpolate|ChamferDistance"
)
_NN: Final = (
    "Norm(?!al)|Foreach|Conv|[pP]ool|Lora|Loss|Embedding|Scatter|Gather|Index|Take|Softmax|Sigmoid"
    "|LSTM|Lstm|GRU|Quant|Mat[mM]ul|[aA]ddb?mm|Addmv|Addr$|^Gemm|^Mm$|^Mv$|AdamW|Sgd|Ema"
    "|G[eE]?lu|G[lL]u|R[eE]?lu|[eE]lu|Silu|Swish|Mish|Hard|hrink|Softplus|Threshold|Modulate"
)
_MATH: Final = (
    "Abs|Acosh?|Add|Addc(div|mul)|All|Amax|Amin|Aminmax|Any|Arange|Arg(Max|Min|sort)|Asinh?|Atan2?"
    "|Atanh|Bernoulli|Bincount|Bitwise(And|Not|Or|Xor)|Bucketize|Cast|Cat|Cdist|Ceil|Chunk|Circular"
    "|Clamp|Complex|Confusion|Constant|Copy|Cosh?|Cum(max|min|prod|sum)|Diag|Digamma|Div|Dot|Dropout"
    "|Einsum|Eq|Equal|Erf[ci]?|Erfinv|Exp|Exp2|Expand|Expm1|Eye|Fill|Flatten|Flip|Floor|Fmod|Frac"
    "|Gcd|Ge|Ger|Gt|Heaviside|Histc|Inverse|Is(Close|Finite|Inf|In|Neg|Pos)|Kthvalue|Le|Left|Lerp"
    "|Lgamma|Linalg|Linspace|Log|Log10|Log1p|Log2|Logdet|Logical|Lt|Masked|Max|Maximum|Mean|Median"
    "|Min|Minimum|Mul|Muls|Multinomial|Nan|Ne|Npu|Neg|Nonzero|Normal|One|Ones?|Pdist|Permute|Polar|Pow"
    "|Precision|Prod|Qr|Random|Randperm|Range|Real|Reciprocal|Reduce|Reflection|Remainder|Repeat"
    "|Replication|Rfft1D|Right|Roll|Round|Rsqrt|Rsub|S|Search|Sign|Signbit|Silent|Sinc?|Sinh|Slice|Slogdet"
    "|Sort|Split|Sqrt|Square|Stack|Std|Stft|Strided|Sub|Sum|Svd|Tanh?|Topk|Trace|Triangular|Tri[lu]"
    "|Trunc|Unfold|Uniform|Unique2?|Var|X|Xlog1py|Zero"
)
_BY_PATTERN: Final = (
    ("cv", re.compile(_CV)),
    ("transformer", re.compile(_TRANSFORMER)),
    ("nn", re.compile(_NN)),
    # A whole word, or several of them with a letter or so behind it.
    ("math", re.compile(rf"^(acl)?({_MATH})(s?$|s?[A-Z0-9])")),
)


def area_of(operator: str) -> str:
    """Return the area of an operator: ``math``, ``nn``, ``cv`` or ``transformer``.

    Args:
        operator: Its C name.
    """
    name = re.sub("^aclnn|^Inner|(?<=aclnn)Inplace", "", operator).removeprefix("Inplace")
    return next((area for area, pattern in _BY_PATTERN if pattern.search(name)), "nn")
