# SPDX-License-Identifier: Apache-2.0
"""Calls of single operators, and their results, typed by hand or by NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
NCHW = {"data_format": "NCHW"}
SHUFFLED = np.arange(2 * 6 * 7 * 9, dtype=np.float32).reshape(2, 6, 7, 9)
STACK = np.arange(120, dtype=np.float32).reshape(2, 20, 3)
ROWS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def floats(*values: float) -> list[Any]:
    return [np.array([each], np.float32) for each in values]


# name, inputs, attributes, results: typed by hand or by NumPy.
CASES: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("MatMul", [X, Y, None], {"transpose_x2": True}, [X @ Y.T]),
    ("MatMulV2", [X, Y], {"transpose_x1": True}, [X.T @ Y]),
    ("BatchMatMulV2", [X[None], Y[None]], {"adj_x2": True}, [(X @ Y.T)[None]]),
    ("Add", [X, Y], {"_hint": 1}, [X + Y]),
    ("Exp", [X], {"base": 2.0, "shift": 1.0}, [np.exp2(X + 1)]),
    ("Log", [X], {"base": 2.0, "scale": 3.0, "shift": 1.0}, [np.log2(3 * X + 1)]),
    ("ReduceSum", [X, zeros(0, dtype=np.int64)], {"noop_with_empty_axes": True}, [X]),
    ("ReduceSum", [X, zeros(0, dtype=np.int64)], {}, [np.array(15, np.float32)]),
    ("MatMulV2", [X, Y], {"transpose_x1": True, "offset_x": 0}, [X.T @ Y]),
    ("Cast", [X], {"dst_type": 3}, [X.astype(np.int32)]),
    ("Identity", [X], {}, [X]),
    ("Relu", [Y], {}, [np.maximum(Y, 0)]),
    ("Transpose", [X, [1, 0]], {}, [X.T.copy()]),
    ("Transpose", [X, np.array([1, 0])], {}, [X.T.copy()]),  # sizes and axes on the device
    ("Tile", [X, np.array([2, 1])], {}, [np.tile(X, (2, 1))]),
    ("TruncateDiv", [np.array([2**60 + 1, -7, 7]), np.array([1, 2, -2])], {}, [
        np.array([2**60 + 1, -3, -3])]),
    ("TruncateDiv", [Y, zeros(2, 3) + 2], {}, [np.array([[-1, 0, 0], [0, 1, 1]], np.float32)]),
    ("ConcatD", [X, Y], {"concat_dim": 1}, [np.concatenate([X, Y], 1)]),
    ("ReduceSum", [X, [1]], {"keep_dims": False}, [np.array([3, 12], np.float32)]),
    ("Fill", [[2, 2], np.array([7], np.float32)], {}, [np.full((2, 2), 7, np.float32)]),
    ("SoftmaxV2", [zeros(1, 4)], {"axes": (1,)}, [np.full((1, 4), 0.25, np.float32)]),
    ("Swish", [Y], {"scale": 1.0}, [np.array([
        [-0.2384058, -0.2689414, 0], [0.7310586, 1.7615942, 2.8577224]], np.float32)]),
    ("Mish", [zeros(1)], {}, [zeros(1)]),
    ("FastGelu", [np.array([1], np.float32)], {}, [np.array([0.8457958], np.float32)]),
    ("LeftShift", [np.array([1, 3], np.int32), [2]], {}, [np.array([4, 12], np.int32)]),
    ("RightShift", [np.array([-8, 5], np.int32), [1]], {}, [np.array([-4, 2], np.int32)]),
    ("LogSpaceD", [zeros(3)], {"start": 0.0, "end": 2.0, "steps": 3, "base": 10.0}, [
        np.array([1, 10, 100], np.float32)]),
    ("OneHotD", [np.array([1, 0], np.int32), zeros(1) + 1, zeros(1)], {"depth": 3}, [
        np.array([[0, 1, 0], [1, 0, 0]], np.float32)]),
    ("ArgMaxWithValue", [X], {"dimension": 1}, [
        np.array([2, 2], np.int32), np.array([2, 5], np.float32)]),
    ("ArgMinWithValue", [X], {"dimension": 0, "keep_dims": True}, [
        zeros(1, 3, dtype=np.int32), X[:1]]),
    ("SortV2", [X], {"axis": 1, "descending": True}, [X[:, ::-1].copy()]),
    ("Slice", [X, [0, 1], [2, -1]], {}, [X[:, 1:].copy()]),
    ("StridedSlice", [X, [0, 0], [2, 3], [1, 2]], {"shrink_axis_mask": 0}, [X[:, ::2].copy()]),
    ("Pad", [X, [0, 0, 1, 0]], {}, [np.pad(X, ((0, 0), (1, 0)))]),
    ("ConfusionTransposeD", [X], {"perm": (1, 0), "shape": (6,), "transpose_first": True}, [
        X.T.ravel()]),
    ("SoftmaxCrossEntropyWithLogits", [zeros(1, 4), np.eye(4, dtype=np.float32)[:1]], {}, [
        np.array([1.3862944], np.float32), np.array([[-0.75, 0.25, 0.25, 0.25]], np.float32)]),
    ("Conv2D", [X.reshape(1, 1, 2, 3), np.ones((1, 1, 2, 2), np.float32)], {
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1), **NCHW}, [
        np.array([[[[8, 12]]]], np.float32)]),
    ("Conv2DTranspose", [[1, 1, 2, 4], X.reshape(1, 1, 2, 3), np.ones((1, 1, 1, 2), np.float32)], {
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1), **NCHW}, [
        np.array([[[[0, 1, 3, 2], [3, 7, 9, 5]]]], np.float32)]),
    ("CdistGrad", [np.array(each, np.float32) for each in (
        [[[1, 1]]], [[[3, 0]]], [[[0, 4]]], [[[5, 5]]])], {"p": 2.0}, [
        np.array([[0.6, -0.8]], np.float32)]),
    ("LpNormReduceV2", [Y], {"p": 3.0, "axes": (1,)}, [np.array([9, 36], np.float32)]),
    ("LpNormReduceV2", [Y], {"p": math.inf, "axes": (1,)}, [np.array([2, 3], np.float32)]),
    ("LpNormUpdateV2", [np.array([8], np.float32)], {"p": 3.0}, [np.array([2], np.float32)]),
    # Infinity as torch-npu writes it.
    ("LpNormReduceV2", [Y], {"p": 2.0**31, "axes": (1,)}, [np.array([2, 3], np.float32)]),
    ("LpNormReduceV2", [Y], {"p": -(2.0**31), "axes": (1,)}, [np.array([0, 1], np.float32)]),
    ("LpNormUpdateV2", [np.array([8], np.float32)], {"p": 2.0**31}, [np.array([8], np.float32)]),
    ("LpNormUpdateV2", [np.array([8], np.float32)], {"p": -(2.0**31)}, [np.array([8], np.float32)]),
    ("Cdist", [X[:, None], Y[None]], {"p": -1.0}, [np.array([[2, 1], [5, 2]], np.float32)]),
    ("CdistGrad", [np.array(each, np.float32) for each in (
        [[[3, 3, 3]]], [[[0.1, 0.7, -0.3]]], [[[-0.2, 1.4, 0.1]]], [[[0.7, 0.7, 0.7]]])],
     {"p": -1.0}, [np.array([[0, -3, 0]], np.float32)]),
    ("Renorm", [np.array([[3, 4], [0, 1], [0, 8]], np.float32)], {
        "p": 2.0, "dim": 0, "maxnorm": 2.0}, [np.array([[0.4], [1], [0.25]], np.float32)]),
    ("Sub", [np.array([0.1]), [0.1]], {}, [np.array([0.0])]),  # of double, on the host
    ("RangeD", [[0, 1, 2]], {"start": 1.0, "limit": 5.0, "delta": 2.0}, [
        np.array([1, 3, 5], np.float32)]),
    ("ShuffleChannel", [SHUFFLED[:, [0, 3, 1, 4, 2, 5]].copy()], {"group": 3}, [SHUFFLED]),
    ("Conv2D", [X.reshape(1, 1, 2, 3), np.ones((1, 1, 2, 2), np.float32)], {
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), **NCHW}, [
        np.array([[[[8, 12]]]], np.float32)]),
    ("Cdist", [X[:, None], Y[None]], {"p": 2.0}, [
        np.array([[12**0.5, 3**0.5], [75**0.5, 12**0.5]], np.float32)]),
    ("TransData", [X], {"src_format": "ND", "dst_format": "FRACTAL_NZ"}, [
        np.pad(X, ((0, 14), (0, 13)))[None, None]]),
    ("TransData", [np.pad(X, ((0, 14), (0, 13)))[None, None]], {
        "src_format": "FRACTAL_NZ", "dst_format": "ND"}, [X]),
    ("TransData", [X.reshape(1, 6, 1, 1)], {"src_format": "NCHW", "dst_format": "NC1HWC0"}, [
        np.pad(X.ravel(), (0, 10)).reshape(1, 1, 1, 1, 16)]),
    ("TransData", [np.pad(X.ravel(), (0, 10)).reshape(1, 1, 1, 1, 16)], {
        "src_format": "NC1HWC0", "dst_format": "NCHW"}, [X.reshape(1, 6, 1, 1)]),
    ("Reshape", [X], {}, [X.reshape(3, 2)]),
    ("Reshape", [X, [0, -1, 1]], {}, [X.reshape(2, 3, 1)]),
    ("Flatten", [X[None]], {"axis": 2}, [X]),
    ("MatMul", [X, Y], {"transpose_x2": True}, [(X @ Y.T).reshape(2, 1, 2)]),
    ("TensorMove", [X], {}, [X]),
    ("MatMulV3", [X, Y], {"transpose_x2": True}, [X @ Y.T]),
    ("BatchMatMulV3", [X[None], Y[None]], {"adj_x2": True}, [(X @ Y.T)[None]]),
    ("AddV2", [X, Y], {}, [X + Y]),
    ("Div", [Y, X + 1], {}, [Y / (X + 1)]),
    ("Maximum", [X, 1 - Y], {}, [np.maximum(X, 1 - Y)]),
    ("Minimum", [X, 1 - Y], {}, [np.minimum(X, 1 - Y)]),
    ("Pow", [X, X], {}, [X**X]),
    ("Adds", [X], {"value": 2.5}, [X + 2.5]),
    ("Muls", [X], {"value": 2.5}, [X * 2.5]),
    ("Sqrt", [X], {}, [np.sqrt(X)]),
    ("Gelu", [np.array([1], np.float32)], {}, [np.array([0.8413447], np.float32)]),
    ("GeluGrad", [X[0, 1:2], zeros(1), zeros(1)], {}, [np.array([0.5], np.float32)]),
    ("SelectV2", [np.array([[1, 0, 1]], np.int32), X, Y], {}, [
        np.stack([X[:, 0], Y[:, 1], X[:, 2]], 1)]),
    ("FillV2D", [], {"value": 2.0, "dims": (3,)}, [zeros(3) + 2]),
    ("TransposeD", [X], {"perm": (1, 0)}, [X.T.copy()]),
    ("Concat", [[0], X, Y], {"N": 2}, [np.concatenate([X, Y])]),
    ("ReduceMin", [X, [0]], {"keep_dims": True}, [X[:1]]),
    ("ReduceSumD", [X], {"axes": (0,)}, [X[0] + X[1]]),
    ("Conv3DTranspose", [[1, 1, 1, 2, 3], X.reshape(1, 1, 1, 2, 3), zeros(1, 1, 1, 1, 1) + 2], {
        "strides": (1,) * 5, "pads": (0,) * 6, "dilations": (1,) * 5, "data_format": "NCDHW"}, [
        2 * X.reshape(1, 1, 1, 2, 3)]),
    ("RotaryMul", [X[:, :2].copy(), zeros(1, 2), zeros(1, 2) + 1], {}, [
        np.array([[-1, 0], [-4, 3]], np.float32)]),
    ("ScaledMaskedSoftmax", [zeros(1, 1, 1, 4)], {"scale": 2.0}, [zeros(1, 1, 1, 4) + 0.25]),
    ("ScaledMaskedSoftmaxGrad", [zeros(1, 1, 1, 2) + X[0, 1:], zeros(1, 1, 1, 2) + 0.5], {
        "scale": 2.0}, [np.array([[[[-0.5, 0.5]]]], np.float32)]),
    ("LogAddExp", [zeros(2), zeros(2)], {}, [np.full(2, 0.6931472, np.float32)]),
    ("Cummax", [Y], {"dim": 1}, [Y, np.array([[0, 1, 2]] * 2, np.int32)]),
    ("Cummin", [Y], {"axis": 1}, [Y[:, [0, 0, 0]], zeros(2, 3, dtype=np.int32)]),
    ("ScatterUpdate", [X, np.array([1], np.int32), Y[:1]], {}, [np.stack([X[0], Y[0]])]),
    ("ScatterNdUpdate", [X, np.array([[1, 2]], np.int32), zeros(1) - 1], {}, [
        np.array([[0, 1, 2], [3, 4, -1]], np.float32)]),
    ("ScatterNdAdd", [X, np.array([[1, 2], [1, 2]], np.int32), zeros(2) + 1], {}, [
        np.array([[0, 1, 2], [3, 4, 7]], np.float32)]),
    ("Diag", [X[0]], {}, [np.diag(X[0])]),
    ("DiagPart", [X[:, :2].copy()], {}, [np.array([0, 4], np.float32)]),
    ("Cross", [np.eye(3, dtype=np.float32)[:1], np.eye(3, dtype=np.float32)[1:2]], {}, [
        np.eye(3, dtype=np.float32)[2:]]),
    ("Selu", [zeros(1) + 1], {}, [zeros(1) + 1.050701]),
    ("SeluGrad", [zeros(1) + 1, zeros(1) + 2], {}, [zeros(1) + 1.050701]),
    ("BiasAddGrad", [X.reshape(1, 2, 3, 1)], {"data_format": "NCHW"}, [
        np.array([3, 12], np.float32)]),
    ("LayerNormV3", [Y[:1, :2].copy(), zeros(2) + 1, zeros(2)], {
        "begin_norm_axis": 1, "epsilon": 0.0}, [
        np.array([[-1, 1]], np.float32), zeros(1, 1) - 1.5, zeros(1, 1) + 2]),
    ("LayerNormGrad", [X[:1, :2].copy(), Y[:1, :2].copy(), zeros(1, 1) + 0.25, zeros(1, 1) - 1.5,
        zeros(2) + 1], {}, [zeros(1, 2), np.array([0, 1], np.float32), X[0, :2].copy()]),
    ("GroupNorm", [Y[:1, :2].copy().reshape(1, 2, 1), zeros(2) + 1, zeros(2)], {
        "num_groups": 1, "eps": 0.0, **NCHW}, [
        np.array([[[-1], [1]]], np.float32), zeros(1, 1) - 1.5, zeros(1, 1) + 2]),
    ("Conv2D", [np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1), np.array(
        [[2, 1], [0, 3]], np.float32).reshape(2, 2, 1, 1)], {  # two groups, by the shapes
        "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1), **NCHW}, [
        np.array([[[[1]], [[9]]]], np.float32)]),
    ("MaxPoolV3", [Y.reshape(1, 1, 2, 3)], {
        "ksize": (1, 1, 2, 2), "strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), **NCHW}, [
        np.array([[[[2, 3]]]], np.float32)]),
    *[(name, [X.reshape(1, 1, 2, 3)], {
        "ksize": (1, 1, 1, 1), "strides": (1, 1, 1, 1), "global_pooling": True, **NCHW}, [
        np.full((1, 1, 1, 1), result, np.float32)])
        for name, result in (("MaxPoolV3", 5), ("AvgPoolV2", 2.5))],
    ("BatchNorm", [X.reshape(3, 2, 1, 1), *np.array([[2, 1], [5, 6]], np.float32)], {
        "epsilon": 0.0, "data_format": "NCHW"}, [
        np.array([[5 - 6**0.5, 6 - 1.5**0.5], [5, 6], [5 + 6**0.5, 6 + 1.5**0.5]],
            np.float32).reshape(3, 2, 1, 1),
        np.array([2, 3], np.float32), np.array([8 / 3, 8 / 3], np.float32)]),
    ("CumsumD", [X], {"axis": 1}, [np.array([[0, 1, 3], [3, 7, 12]], np.float32)]),
    ("GEMM", [X, Y, np.ones(2, np.float32), *np.array([[2], [3]], np.float32)], {
        "transpose_b": True}, [np.array([[1, 19], [-17, 55]], np.float32)]),
    ("SplitD", [X], {"split_dim": 1, "num_split": 3}, [*X.T.reshape(3, 2, 1)]),
    ("Unpack", [X], {"num": 2}, [*X]),
    ("BroadcastToD", [X[:, :1]], {"shape": (2, 2)}, [np.array([[0, 0], [3, 3]], np.float32)]),
    ("BiasAdd", [X.reshape(1, 3, 2), X[0]], {"data_format": "NCHW"}, [
        np.array([[[0, 1], [3, 4], [6, 7]]], np.float32)]),
    ("Renorm", [np.array([[3, 4], [0.3, 0.4]], np.float32)], {
        "p": 2.0, "maxnorm": 1.0, "dim": 0}, [np.array([[0.2], [1]], np.float32)]),
    ("IndexFillD", [X, np.array([[1, 0, 1]] * 2, np.float32), np.array(
        [[0, 7, 0]] * 2, np.float32)], {"dim": 1}, [
        np.array([[0, 7, 2], [3, 7, 5]], np.float32)]),
    ("KLDiv", [Y, zeros(2, 3) + 1], {"reduction": "batchmean"}, [np.array(-1.5, np.float32)]),
    ("KlDivLossGrad", [np.array(4, np.float32), Y, zeros(2, 3) + 1], {
        "reduction": "batchmean"}, [zeros(2, 3) - 2]),
    ("LogSigmoidGrad", [np.array(3, np.float32), np.array(0, np.float32)], {}, [
        np.array(1.5, np.float32)]),
    ("NLLLoss", [X[1:], np.array(2, np.int32), zeros(3) + 1], {}, [
        np.array(-5, np.float32), np.array(1, np.float32)]),
    ("PadV3Grad", [zeros(1, 2, 5) + 1, [0, 0, 0, 0, 1, 1]], {"mode": "edge"}, [
        np.array([[2, 1, 2], [2, 1, 2]], np.float32)]),
    # powers of 1/4 and 3/4, a rate of 0.3, decays of 1/2 and 3/4: moments that begin with zeros
    *[("ApplyAdamD", [X, zeros(2, 3), zeros(2, 3), *floats(0.25, 0.75, 0.3, 0.5, 0.75, 0),
        X + 1], {"use_locking": False, "use_nesterov": nesterov}, [
        X - step, (X + 1) / 2, (X + 1) ** 2 / 4])
        for nesterov, step in ((False, np.float32(0.2)), (True, np.float32(0.3)))],
    *[("ApplyAdamW", [X, zeros(2, 3), zeros(2, 3), *floats(0.25, 0.5, 0.3, 0.1, 0.5, 0.75, 0),
        X + 1, None], {"amsgrad": False, "maximize": sign < 0}, [
        X * 0.97 - np.float32(sign * 0.3 * 4 / 7 / 0.4**0.5), sign * (X + 1) / 2, (X + 1) ** 2 / 4])
        for sign in (1, -1)],
    ("NPUGetFloatStatus", [zeros(8) + 3], {}, [zeros(8)]),
    ("NPUClearFloatStatus", [zeros(8) + 3], {}, [zeros(8)]),
    ("NPUClearFloatStatusV2", [], {}, []),
    *[(name, [], {}, [zeros(8)])
        for name in ("NPUAllocFloatStatus", "NPUGetFloatStatusV2", "NPUGetFloatDebugStatus")],
    ("StrideAdd", [STACK[:, :18].copy(), STACK], {
        "x1_c1_offset": 1, "x2_c1_offset": 0, "c1_len": 1}, [np.concatenate(
        [STACK[:, :2] + STACK[:, 16:18], STACK[:, 2:16]], 1)]),
    ("NormalizeBatch", [ROWS, np.array([2, 3], np.int32)], {
        "normalize_type": "per_feature", "epsilon": 0.0}, [np.broadcast_to(np.array(
        [[-0.5, 0.5, 1.5, 2.5], [-1, 0, 1, 2]], np.float32)[:, None], (2, 3, 4)) * np.array(
        [[[2**0.5]], [[1]]], np.float32)]),
    ("NormalizeBatch", [ROWS, np.array([2, 3], np.int32)], {
        "normalize_type": "all_features", "epsilon": 0.0}, [
        ((ROWS - [[[4.5]], [[17]]]) / np.sqrt([[[13.1]], [[12.75]]])).astype(np.float32)]),
    ("Scatter", [STACK, np.array([4, 13]), -STACK[:, :7]], {"reduce": "update", "axis": 1}, [
        np.stack([np.concatenate([x[:at], -x[:7], x[at + 7 :]])
            for x, at in zip(STACK, (4, 13), strict=True)])]),
    ("DropOutDoMaskV3", [X, np.array([[1, 0, 1], [0, 1, 1]], np.uint8), *floats(0.25)], {}, [
        np.array([[0, 0, 8], [0, 16, 20]], np.float32)]),
    # samples in a region of 2 by 3, at (0.5, 1.5) and (1.5, 1.5)
    ("ROIAlignGrad", [np.array([[[[4, 8]]]], np.float32), np.array(
        [[0, 0, 0, 2, 3]], np.float32)], {
        "xdiff_shape": (1, 1, 4, 3), "spatial_scale": 1.0, "pooled_height": 1, "pooled_width": 2,
        "sample_num": 1, "roi_end_mode": 0}, [
        np.array([[[[0, 0, 0], [1, 3, 2], [1, 3, 2], [0, 0, 0]]]], np.float32)]),
    ("SyncBatchNormBackwardReduce", [*np.array(
        [[1, 2, 3], [10, 20, 40], [2, 3, 5], [4, 0.5, 2]], np.float32)], {}, [
        np.array([8, 14, 25], np.float32), np.array([32, 7, 50], np.float32)]),
    ("SyncBatchNormBackwardElemt", [zeros(2, 3) + each for each in (10, 5, 3, 0.5, 3, 1, 4)], {}, [
        zeros(2, 3) + 10.5]),
    ("ReduceMeanWithCount", [X + 1, np.array([[1] * 3, [3] * 3], np.float32), zeros(2, 3) + 4], {
        "axes": (0,), "keep_dims": True}, [np.array([[3.25, 4.25, 5.25]], np.float32)]),
    # deviations of 1 and 2 of 1 and 3 elements, whose means are 1 and 3: 2 of all
    ("SyncBatchNormGatherStatsWithCounts", [*(zeros(2, 3) + np.array(each, np.float32) for each in (
        [[1], [3]], [[1], [0.5]], [[1], [3]], 2.5)), zeros(1, 3) + 4, zeros(1, 3) + 8], {
        "momentum": 0.25, "epsilon": 0.0}, [zeros(1, 3) + 0.5, zeros(1, 3) + 22 / 3]),
    ("SyncBNTrainingUpdate", [X[:1], X[1:]], {"momentum": 0.25}, [
        np.array([[2.25, 3.25, 4.25]], np.float32)]),
    ("SyncBatchNormGatherStats", [np.array([[2, 4, 6], [4, 8, 12]], np.float32), np.array(
        [[5, 2, 7], [20, 50, 90]], np.float32), np.array([1, 3], np.int32), zeros(3) + 6,
        zeros(3) + 8], {"momentum": 0.25, "eps": 0.0}, [
        np.array([1.5, 3, 4.5], np.float32), zeros(3) + 0.5,
        np.array([4.875, 5.25, 5.625], np.float32), zeros(3) + 22 / 3]),
]  # fmt: skip

I0 = np.array([0], np.int32)
# name, inputs, attributes, outputs, part of the refusal: calls that contradict themselves.
MISTAKES: list[tuple[str, list[Any], dict[str, Any], list[Any], str]] = [
    ("MatMul", [X], {}, [zeros(2, 2)], "it has 1 inputs; it must have 2 to 3 (x1, x2, bias)"),
    ("Relu", [X, X], {}, [X], "it has 2 inputs; it must have 1 (x)"),
    ("MatMul", [None, Y, X[0]], {}, [zeros(2, 3)], "inputs[0] (x1) is left out"),
    ("MatMul", [X, Y], {}, [X], "axis -1 of x1 has length 3, axis -2 of x2 has 2; they must"),
    ("MatMulV2", [X, X.T[:, :1].copy()], {"transpose_x1": True, "transpose_x2": True}, [X],
     "axis -2 of x1 has length 2, axis -1 of x2 has 1; they must be equal"),
    ("AddV2", [X, X[:, :2].copy()], {}, [X], "could not be broadcast"),
    ("ScatterElements", [X, X, X], {"axis": 1}, [X], "must be of integer"),
    ("BitwiseAnd", [X, X], {}, [X], "not supported for the input types"),
    ("Transpose", [X, [1, 0]], {}, [X], "outputs[0] has shape (2, 3); its result has (3, 2)"),
    ("AddV2", [X[:1], X[:1]], {}, [X], "outputs[0] has shape (2, 3); its result has (1, 3)"),
    ("MatMul", [X, Y.T.copy()], {}, [zeros(4, 2)], "has shape (4, 2); its result has (2, 2)"),
    ("MatMul", [zeros(600, 600)] * 2, {}, [zeros(600, 3)], "its result has (600, 600)"),
    ("Slice", [X, [0, 1], [2, 3]], {}, [zeros(2, 3)], "reach beyond the shape (2, 3)"),
    ("SliceD", [X], {"offsets": (3, 0), "size": (-1, 3)}, [zeros(0, 3)], "reach beyond"),
    ("GatherV2", [X, I0, [0]], {}, [X], "outputs[0] has shape (2, 3); its result has (1, 3)"),
    ("LogSpaceD", [zeros(3)], {"start": 0.0, "end": 1.0, "steps": 4}, [zeros(3)], "has (4,)"),
    ("Fill", [[2, 2], zeros(1)], {}, [zeros(4)], "has shape (4,); its result has (2, 2)"),
    ("FillV2D", [], {"value": 2.0, "dims": (4,)}, [zeros(3)], "its result has (4,)"),
    ("Unpack", [X], {"num": 3}, [*X], "attribute num is 3; for these tensors it must be 2"),
    ("Unpack", [X], {}, [X[0]] * 3, "it has 3 outputs; it must have 2"),
    ("ConcatD", [X, Y], {"concat_dim": 0, "N": 3}, [zeros(4, 3)], "N is 3; for these tensors"),
    ("Cast", [X], {"dst_type": 9}, [zeros(2, 3, dtype=np.int32)], "dst_type is 9; for these"),
    ("AdaptiveAvgPool2d", [X[None]], {"output_size": (2, 2)}, [zeros(1, 1, 1)], "must be (1, 1)"),
    ("EmbeddingDenseGrad", [X[:1], I0], {"num_weights": 3}, [X], "for these tensors it must be 2"),
]  # fmt: skip
