# SPDX-License-Identifier: Apache-2.0
"""The table of chips."""

from __future__ import annotations

import pytest

from pyaclnn.facts.chips import (
    DEFAULT_SOC_NAME,
    FAMILIES as FAMILIES_OF_CHIPS,
    all_chips,
    find_chip,
)

FAMILIES = {"910b", "910_93", "950", "310p", "910", "310b"}
GIB = 1 << 30


def test_the_default_chip_is_an_atlas_a2() -> None:
    chip = find_chip(DEFAULT_SOC_NAME)

    assert (chip.soc_name, chip.family, chip.npu_arch) == ("Ascend910B3", "910b", 2201)
    assert (chip.ai_cores, chip.vector_cores, chip.memory_bytes) == (20, 40, 64 * GIB)
    assert (chip.streams, chip.events) == (1984, 65536)
    assert chip.product == "Atlas A2"


def test_every_family_has_a_chip_and_every_chip_a_name_of_its_own() -> None:
    chips = all_chips()

    assert {chip.family for chip in chips} == FAMILIES
    assert len({chip.soc_name for chip in chips}) == len(chips)
    for chip in chips:
        assert chip.product
        assert chip.kernel_cores > 0
        assert chip.memory_bytes % GIB == 0


@pytest.mark.parametrize(
    ("soc_name", "family", "bfloat16", "kernel_cores"),
    [
        # Without a digit it is the first generation.
        ("Ascend910B", "910", False, 30),
        ("Ascend910A", "910", False, 32),
        ("Ascend910B4", "910b", True, 40),
        ("Ascend910_9391", "910_93", True, 48),
        ("Ascend950PR_9579", "950", True, 64),
        ("Ascend310P3", "310p", False, 7),
        ("Ascend310B1", "310b", False, 1),
    ],
)
def test_families(soc_name: str, family: str, bfloat16: bool, kernel_cores: int) -> None:
    chip = find_chip(soc_name)

    assert (chip.family, chip.bfloat16) == (family, bfloat16)
    assert chip.kernel_cores == kernel_cores


KIB = 1 << 10
# Bytes of the unified buffer, __CCE_AICORE__, and if Ascend C's normalization is there.
CORES = {
    "Ascend910B3": (192 * KIB, 220, True),
    "Ascend910_9391": (192 * KIB, 220, True),
    "Ascend950PR_9579": (248 * KIB, 310, True),
    "Ascend310P3": (256 * KIB, 200, True),
    "Ascend910A": (256 * KIB, 100, False),
    "Ascend310B1": (248 * KIB, 300, False),
}


@pytest.mark.parametrize("soc_name", CORES)
def test_cores_of_a_family(soc_name: str) -> None:
    family = FAMILIES_OF_CHIPS[find_chip(soc_name).family]
    facts = (family.unified_buffer, family.cce_aicore, family.normalization)
    assert facts == CORES[soc_name]


@pytest.mark.parametrize("soc_name", ["", "ascend910b3", "Ascend910B9"])
def test_an_unknown_chip_lists_the_known_ones(soc_name: str) -> None:
    with pytest.raises(KeyError, match=f"{soc_name!r} is unknown.*Ascend910B3, .*Ascend310P3"):
        find_chip(soc_name)
