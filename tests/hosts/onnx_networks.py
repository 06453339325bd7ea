# SPDX-License-Identifier: Apache-2.0
"""Networks in ONNX, of one node and of some, on the CANN provider and on the CPU."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found]
import onnxruntime  # type: ignore[import-not-found]
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)
KINDS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64}


def numbers(*shape: int) -> Any:
    return RNG.uniform(0.1, 0.9, shape).astype(np.float32)


IMAGE = numbers(2, 4, 8, 8)
WINDOW = {"kernel_shape": [2, 2], "strides": [2, 2]}
CHANNELS = [numbers(4) for _ in range(4)]
UNARY = "Abs Neg Floor Ceil Reciprocal Sqrt Log Erf Sin Cos Round Relu Identity Flatten"
BINARY = "Add Sub Mul Div"
NODES: list[tuple[str, list[Any], dict[str, Any]]] = [
    *[(name, [IMAGE], {}) for name in UNARY.split()],
    *[(name, [numbers(2, 3), other], {}) for name in BINARY.split()
        for other in (numbers(2, 3), numbers(3))],
    ("MatMul", [numbers(2, 4, 5), numbers(2, 5, 6)], {}),
    ("Conv", [IMAGE, numbers(3, 4, 3, 3), numbers(3)], {"pads": [1, 1, 1, 1]}),
    ("Conv", [IMAGE, numbers(4, 1, 3, 3)], {"group": 4, "strides": [2, 2]}),
    ("AveragePool", [IMAGE], WINDOW),
    ("GlobalAveragePool", [IMAGE], {}),
    ("GlobalMaxPool", [IMAGE], {}),
    ("BatchNormalization", [IMAGE, *CHANNELS], {}),
    ("Reshape", [IMAGE, np.array([2, -1])], {}),
    ("Cast", [IMAGE], {"to": TensorProto.FLOAT16}),
]  # fmt: skip


def model(nodes: list[Any], inputs: list[Any], kept: int) -> bytes:
    """A model of which the first inputs are given, and the others belong to it."""
    given = [
        helper.make_tensor_value_info(f"x{i}", KINDS[x.dtype.name], x.shape)
        for i, x in enumerate(inputs[:kept])
    ]
    own = [numpy_helper.from_array(x, f"x{i}") for i, x in enumerate(inputs) if i >= kept]
    result = helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)
    graph = helper.make_graph(nodes, "network", given, [result], own)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7)
    return bytes(onnx.shape_inference.infer_shapes(made).SerializeToString())


def compare(nodes: list[Any], inputs: list[Any], kept: int, **options: str) -> str:
    """Run a model on both providers, on the NPU without the help of the CPU."""
    text, feed = model(nodes, inputs, kept), {f"x{i}": x for i, x in enumerate(inputs[:kept])}
    alone = onnxruntime.SessionOptions()
    alone.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    alone.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    usual = onnxruntime.InferenceSession(text, providers=["CPUExecutionProvider"])
    wanted = usual.run(None, feed)[0]
    providers = [("CANNExecutionProvider", {"enable_cann_graph": "0", **options})]
    try:
        session = onnxruntime.InferenceSession(text, alone, providers=providers)
        assert session.get_providers()[0] == "CANNExecutionProvider"
        found = session.run(None, feed)[0]
    except Exception as error:  # noqa: BLE001  # the answer is its text
        return str(error)
    right = np.allclose(np.float64(found), np.float64(wanted), rtol=5e-3, atol=5e-3)
    return "right" if right else f"{found} instead of {wanted}"


def main() -> None:
    """Print one object in JSON: what became of each network."""
    found = {}
    for name, inputs, attributes in NODES:
        node = helper.make_node(name, [f"x{i}" for i in range(len(inputs))], ["y"], **attributes)
        key = f"{name} {[x.shape for x in inputs]} {attributes}"
        kept = 1 if name in {"Conv", "BatchNormalization", "Reshape"} else len(inputs)
        found[key] = compare([node], inputs, kept)
    layers = [
        helper.make_node("Conv", ["x0", "x1", "x2"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("AveragePool", ["b"], ["c"], **WINDOW),
        helper.make_node("Flatten", ["c"], ["d"]),
        helper.make_node("MatMul", ["d", "x3"], ["e"]),
        helper.make_node("Add", ["e", "x4"], ["y"]),
    ]
    inputs = [IMAGE, numbers(3, 4, 3, 3), numbers(3), numbers(48, 10), numbers(10)]
    found["network"] = compare(layers, inputs, 1)
    found["graph"] = compare(layers, inputs, 1, enable_cann_graph="1")
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
