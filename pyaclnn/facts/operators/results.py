# SPDX-License-Identifier: Apache-2.0
"""Rules for the shapes of results that follow from the arguments.

Only what is plain is listed: an operator that is not, or a call whose types do not agree, needs its
results from the caller. Sources: the parameter tables of CANN's documents, and PyTorch, whose
functions most of these operators stand for.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ResultRule", "result_rules"]

ResultRule = tuple[str, tuple[str, ...]]
"""The name of a rule, and the C names of the parameters that it goes by."""

# Rule and parameters -> operators, without the "aclnn" before each.
_RULES: Final = {
    # Shape and type of one argument.
    "same self": """
        Abs BitwiseNot Ceil Clamp ClampMax ClampMin Flip Floor Neg Relu Round Sign Square Tril Triu
        Trunc FastGeluBackward GeluBackward HardsigmoidBackward HardswishBackward
        HardtanhBackward LeakyReluBackward MishBackward SiluBackward SoftplusBackward
        ThresholdBackward""",
    "same x": "Roll",
    "same output": "LogSoftmaxBackward SigmoidBackward SoftmaxBackward TanhBackward",
    # The same, of floating-point arguments only: of integers these make something else.
    "floats self": """
        Acosh Asin Celu Cosh Digamma Elu Erf Erfc Erfinv Exp Exp2 Expm1 FastGelu Gelu Hardshrink
        Hardsigmoid Hardswish Hardtanh LeakyRelu Lgamma Log Log10 Log1p Log2 LogSigmoid LogSoftmax
        Mish NanToNum Reciprocal Rsqrt Selu Sigmoid Silu Sin Sinc Sinh Softmax Softplus Softshrink
        Sqrt Tan Tanh Threshold""",
    "floats input": "Acos Asinh Atan Atanh Cos Frac",
    "floats x": "GeluV2",
    # The shape of one argument, with truth values.
    "truth self": """
        EqScalar GeScalar GtScalar IsFinite IsNegInf IsPosInf LeScalar LogicalNot LtScalar NeScalar
        Signbit""",
    "truth x": "IsInf",
    # The shape of one argument, in a type that is asked for.
    "cast self dtype": "Cast Cumsum",
    # The shape to which arguments broadcast, in their common type; or with truth values.
    "broadcast self other": """
        Add BitwiseAndTensor BitwiseOrTensor BitwiseXorTensor FloorDivide FmodTensor Gcd Maximum
        Minimum Mul RemainderTensorTensor Rsub Sub""",
    "floats-broadcast self other": "Atan2 Div LogAddExp LogAddExp2 XLogYTensor",
    "floats-broadcast self tensor1 tensor2": "Addcdiv Addcmul",
    "floats-broadcast self end": "Lerps",
    "truth-broadcast self other": """
        EqTensor GeTensor GtTensor LeTensor LogicalAnd LogicalOr LogicalXor LtTensor NeTensor""",
    "where condition self other": "SWhere",
    # One argument and a scalar that has no part in the type: floats keep theirs, and integers do
    # if the scalar is an integer too.
    "scalar self other": """
        Adds BitwiseAndScalar BitwiseOrScalar BitwiseXorScalar FloorDivides FmodScalar Muls
        RemainderTensorScalar Rsubs Subs""",
    "scalar self exponent": "PowTensorScalar",
    "floats self other": "Divs",
    # A list like another one.
    "each x": """
        ForeachAbs ForeachAcos ForeachAddScalar ForeachAddScalarList ForeachAddScalarV2 ForeachAsin
        ForeachAtan ForeachCopy ForeachCos ForeachCosh ForeachDivScalar ForeachDivScalarList
        ForeachDivScalarV2 ForeachErf ForeachErfc ForeachExp ForeachExpm1 ForeachLog ForeachLog10
        ForeachLog1p ForeachLog2 ForeachMaximumScalar ForeachMaximumScalarList
        ForeachMaximumScalarV2 ForeachMinimumScalar ForeachMinimumScalarList
        ForeachMinimumScalarV2 ForeachMulScalar ForeachMulScalarList ForeachMulScalarV2 ForeachNeg
        ForeachPowScalar ForeachPowScalarAndTensor ForeachPowScalarList ForeachPowScalarV2
        ForeachReciprocal ForeachRoundOffNumber ForeachRoundOffNumberV2 ForeachSigmoid ForeachSign
        ForeachSin ForeachSinh ForeachSqrt ForeachSubScalar ForeachSubScalarList
        ForeachSubScalarV2 ForeachTan ForeachTanh""",
    "each x1": """
        ForeachAddList ForeachAddListV2 ForeachAddcdivList ForeachAddcdivScalar
        ForeachAddcdivScalarList ForeachAddcdivScalarV2 ForeachAddcmulList ForeachAddcmulScalar
        ForeachAddcmulScalarList ForeachAddcmulScalarV2 ForeachDivList ForeachLerpList
        ForeachLerpScalar ForeachMaximumList ForeachMinimumList ForeachMulList ForeachPowList
        ForeachSubList ForeachSubListV2""",
    # The axes that a parameter names are gone, or of length one if another says so; none is all.
    "reduce self dim keepDim": "Amax Amin",
    "floats-reduce self dim keepDim": "LogSumExp",
    "floats-reduce self dim keepdim": "Std Var VarCorrection",
    "truth-reduce self dim keepdim": "All Any",
    "index-reduce self dim keepdim": "ArgMax ArgMin",
    "cast-reduce self dim keepDim dtype": "Mean ProdDim ReduceNansum",
    "cast-reduce self dims keepDims dtype": "ReduceSum",
    "index-and-reduce self dim keepdim": "MaxDim MinDim",
}


@functools.cache
def result_rules() -> Mapping[str, ResultRule]:
    """Return the rules that are known, by the C name of the operator."""
    return {
        f"aclnn{name}": (rule.split()[0], tuple(rule.split()[1:]))
        for rule, names in _RULES.items()
        for name in names.split()
    }
