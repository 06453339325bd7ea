# SPDX-License-Identifier: Apache-2.0
"""Random operators: equal numbers for an equal seed and offset, and means that are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.reference.kernels import built_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

COUNT = 20000
X = np.zeros(COUNT, np.float32)
BYTES = np.zeros(COUNT // 8, np.uint8)
ONE: dict[str, Any] = {"seed": 1, "offset": 0}
TENSORS: dict[str, Any] = {"seedTensor": np.array([1]), "offsetTensor": np.array([0]), "offset": 0}
PART = np.full(COUNT, 0.25, np.float32)
MEANS: dict[str, tuple[dict[str, Any], float]] = {
    "Bernoulli": ({"prob": 0.25, "out": X}, 0.25),
    "BernoulliTensor": ({"prob": PART, "out": X}, 0.25),
    "InplaceBernoulli": ({"prob": 0.25, "self": X}, 0.25),
    "InplaceBernoulliTensor": ({"prob": PART, "self": X}, 0.25),
    "DropoutGenMask": ({"prob": 0.25, "out": BYTES}, 0.75),
    "DropoutGenMaskV2": ({"prob": 0.25, "out": BYTES}, 0.75),
    "DropoutGenMaskV2Tensor": ({"prob": 0.25, "out": BYTES}, 0.75),
    "Dropout": ({"input": X + 1, "p": 0.25, "train": True, "maskOut": BYTES}, 1.0),
    "DropoutV3": ({"input": X + 1, "p": 0.25, "maskOut": BYTES}, 1.0),
    "InplaceNormal": ({"self": X, "mean": 2.0, "std": 0.5}, 2.0),
    "InplaceNormalTensor": ({"self": X, "mean": 2.0, "std": 0.5}, 2.0),
    "InplaceRandom": ({"self": X, "from_": 2, "to": 7}, 4.0),
    "InplaceRandomTensor": ({"self": X, "from_": 2, "to": 7}, 4.0),
    "InplaceRandomWithoutFromTo": ({"self": X}, 63.5),
    "InplaceRandomWithoutFromToTensor": ({"self": X}, 63.5),
    "SimThreadExponential": ({"self": X, "count": COUNT, "lambda_": 2.0}, 0.5),
    "InplaceUniform": ({"self": X, "from_": 1.0, "to": 3.0}, 2.0),
    "InplaceUniformTensor": ({"self": X, "from_": 1.0, "to": 3.0}, 2.0),
    "Multinomial": ({"self": np.array([1.0, 3.0]), "numsamples": COUNT, "replacement": True}, 0.75),
    "MultinomialTensor": (
        {"self": np.array([1.0, 3.0]), "numsamples": COUNT, "replacement": True},
        0.75,
    ),
    "NormalFloatFloat": ({"mean": 2.0, "std": 0.5, "out": X}, 2.0),
    "NormalFloatTensor": ({"mean": 2.0, "std": PART, "out": X}, 2.0),
    "NormalTensorFloat": ({"mean": X + 2, "std": 0.5, "out": X}, 2.0),
    "NormalTensorTensor": ({"mean": X + 2, "std": PART, "out": X}, 2.0),
    "Randperm": ({"n": COUNT}, (COUNT - 1) / 2),
}
RANDOM = {f"aclnn{name}" for name in MEANS}


def numbers(name: str, given: dict[str, Any], seed: int = 1) -> NDArray[Any]:
    kernel = built_in()[f"aclnn{name}"]
    seeds = TENSORS | {"seedTensor": np.array([seed])} if name.endswith("Tensor") else {}
    seeds = seeds if "seedTensor" in kernel.parameters else ONE | {"seed": seed}
    found = kernel.function(**given, **seeds)
    first = np.asarray(found[0] if isinstance(found, tuple) else found)
    return np.unpackbits(first) if first.dtype == np.uint8 else first.astype(np.float64)


@pytest.mark.parametrize("name", MEANS)
def test_a_seed_determines_numbers_of_the_right_mean(name: str) -> None:
    given, mean = MEANS[name]
    found = numbers(name, given)
    assert found.mean() == pytest.approx(mean, rel=0.03)
    assert np.array_equal(found, numbers(name, given))
    assert not np.array_equal(found, numbers(name, given, seed=2))


def test_places_are_drawn_once_without_replacement() -> None:
    given = {"self": np.ones((3, 5)), "numsamples": 5, "replacement": False}
    assert np.sort(numbers("Multinomial", given)).tolist() == [[0, 1, 2, 3, 4]] * 3


def test_a_permutation_has_each_number_once() -> None:
    assert np.sort(numbers("Randperm", {"n": 50})).tolist() == [*range(50)]


def test_a_mask_of_dropout_leaves_out_what_the_result_lacks() -> None:
    given, _ = MEANS["Dropout"]
    result, mask = built_in()["aclnnDropout"].function(**given, **ONE)
    kept = np.unpackbits(mask, bitorder="little")[:COUNT]
    np.testing.assert_allclose(result, kept / 0.75, rtol=1e-6)
