# SPDX-License-Identifier: Apache-2.0
"""Reports of machines that do not exist: one of each kind that the formats have to tell."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pyaclnn.health.report.fleet import gather
from pyaclnn.health.report.record import (
    CheckResult,
    Evidence,
    Figure,
    Number,
    Report,
    Severity,
    Status,
)

if TYPE_CHECKING:
    from pathlib import Path

EDGES = (*(10.0 ** (k / 2) for k in range(-12, 3)), None)

NASTY = "<script>alert('x')</script> & \"quotes\" \x00\x1b[31m $body {brace}"
"""A text that breaks whoever forgets to escape."""


def reason_of(path: Path) -> str:
    """Return why a file is no report, as the one row of a merge says it."""
    (report,) = gather([str(path)]).reports
    (result,) = report.results
    return result.summary


def number(operator: str, output: str, dtype: str, shape: tuple[int, ...], **but: object) -> Number:
    chance = random.Random(f"{operator}{output}{dtype}{shape}")  # made-up figures
    centre = {"float32": 4, "float16": 8, "bfloat16": 9}[dtype] + chance.random()
    counts = [int(900 * math.exp(-((k - centre) ** 2) / 3)) for k in range(len(EDGES))]
    counts[-3:] = [0, 0, 0]
    limit = {"float32": 1e-2, "float16": 1e-1, "bfloat16": 1.0}[dtype]
    made = Number(
        operator=operator,
        output=output,
        dtype=dtype,
        shape=shape,
        passed=True,
        max_abs_error=limit * 10 ** (chance.uniform(-1.8, -0.5) - (2 if dtype == "float32" else 0)),
        limit=limit,
        matched_ratio=1.0,
        seconds=10 ** chance.uniform(-3.4, -2.2) * math.prod(shape) ** 0.1,
        error_histogram=tuple(zip(EDGES, counts, strict=True)),
        verdict="every element within tolerance",
    )
    return replace(made, **but)


OUTPUTS = {
    "layer_norm": ("out", "mean", "rstd"),
    "layer_norm_backward": ("grad_input", "grad_weight", "grad_bias"),
    "rms_norm": ("y", "rstd"),
    "rms_norm_grad": ("dx", "dgamma"),
}


def numbers() -> tuple[Number, ...]:
    return tuple(
        number(operator, output, dtype, shape)
        for operator, outputs in OUTPUTS.items()
        for dtype in ("float32", "float16", "bfloat16")
        for shape in ((4, 64), (3, 5, 257), (128, 1024))
        for output in outputs
    )


def result(name: str, status: Status = Status.PASS, **but: object) -> CheckResult:
    made = CheckResult(
        id=name,
        title=f"What {name} is about",
        category=name.partition("-")[0].lower(),
        status=status,
        seconds=0.25,
        summary=f"{name} found this",
    )
    return replace(made, **but)


def report(*results: CheckResult, **but: object) -> Report:
    made = Report(
        version="0.1.0",
        started="2026-05-21T08:30:00+00:00",
        seconds=12.5,
        host={
            "name": "node-17",
            "os": "openEuler 24.03",
            "kernel": "6.6.0-72",
            "machine": "aarch64",
            "python": "3.11.9",
            "cpu_count": 192,
            "in_container": True,
        },
        backend="cann",
        simulated=False,
        directory="/usr/local/Ascend/ascend-toolkit/latest/lib64",
        soc_name="Ascend910B3",
        cann_version="8.1.RC1",
        level="medium",
        environment={"ASCEND_HOME_PATH": "/usr/local/Ascend/ascend-toolkit/latest"},
        results=results or (result("ENV-001"),),
        exit_status=0,
    )
    return replace(made, **but)


SETUP_FAILED = result(
    "DEV-103@0",
    Status.FAIL,
    title="Device 0 can be opened",
    category="device",
    summary="aclrtSetDevice(0) failed with 507033 (ACL_ERROR_RT_DEV_SETUP_ERROR)",
    evidence=(
        Evidence("function", "aclrtSetDevice", "aclrtSetDevice(0) returned 507033"),
        Evidence("log", "aclGetRecentErrMsg", "EE9999: device retain failed\nretCode=0x7020011"),
        Evidence("path", "/dev/davinci0", "crw-rw---- HwHiAiUser HwHiAiUser"),
    ),
    causes=("driver and CANN do not fit together", "another container holds the device"),
    next_step="npu-smi info -t board -i 0",
    code=507033,
    code_name="ACL_ERROR_RT_DEV_SETUP_ERROR",
    severity=Severity.DRAIN,
)

HEALTHY = report(
    result("ENV-001", category="environment"),
    result("ENV-002", Status.SKIP, category="environment"),
    result("LIB-001", category="libraries", evidence=(Evidence("value", "found", "3 libraries"),)),
    result("NUM-101@0", category="numbers", numbers=numbers(), seconds=9.1),
)
BROKEN = report(
    result("ENV-001", category="environment"),
    result("ENV-003", Status.WARN, category="environment", next_step="unset LD_PRELOAD"),
    SETUP_FAILED,
    result("DEV-104@0", Status.NOT_RUN, category="device", summary="DEV-103@0 did not pass"),
    result("NUM-101@0", Status.NOT_RUN, category="numbers", summary="DEV-103@0 did not pass"),
    exit_status=1,
)
_BAD = number(
    "rms_norm",
    "y",
    "float16",
    (3, 5, 257),
    passed=False,
    max_abs_error=0.9,
    matched_ratio=0.97,
    error_histogram=tuple((edge, 40) for edge in EDGES),
    verdict="97.00 % within tolerance, 99 % required",
)
_NONE = number(
    "rms_norm_grad",
    "-",
    "bfloat16",
    (4, 64),
    passed=False,
    max_abs_error=None,
    limit=None,
    matched_ratio=0.0,
    error_histogram=(),
    verdict="aclnnRmsNormGrad failed with 561003",
)
WRONG_NUMBERS = report(
    result("ENV-001", category="environment"),
    result(
        "NUM-103@0",
        Status.FAIL,
        category="numbers",
        summary="2 outputs are wrong",
        numbers=(*numbers(), _BAD, _NONE),
        causes=("an operator package of another CANN version",),
        next_step="pyaclnn doctor --only NUM-103",
    ),
    exit_status=1,
)
FIGURES = (
    Figure("host_to_device_pinned", 24.1, "GB/s"),
    Figure("launches", 210_000.0, "1/s"),
    Figure("temperature", 41.0, "°C", "less"),
)
MEASURED = report(
    result("FIG-101@0", category="figures", figures=FIGURES),
    result("FIG-101@1", category="figures", figures=FIGURES[:1]),
    result("FIG-201@1", Status.WARN, category="figures", severity=Severity.MONITOR),
    level="long",
)
SIMULATED = replace(HEALTHY, backend="mock", simulated=True)
NO_CANN = report(
    result(
        "ENV-001",
        Status.FAIL,
        summary="no CANN was found",
        next_step="pyaclnn doctor --backend mock",
    ),
    backend="none",
    directory=None,
    soc_name=None,
    cann_version=None,
    exit_status=4,
    environment={},
)
UNCLEAR = report(result("ENV-001", Status.ERROR, summary="the check itself failed"), exit_status=3)
NASTY_REPORT = report(
    result(
        "ENV-001",
        Status.CRASH,
        title=NASTY,
        category=NASTY,
        summary=NASTY,
        evidence=(Evidence("log", NASTY, NASTY),),
        causes=(NASTY,),
        next_step=NASTY,
    ),
    host={"name": NASTY},
    environment={NASTY: NASTY},
    exit_status=1,
)
ALL = {
    "healthy": HEALTHY,
    "broken": BROKEN,
    "wrong_numbers": WRONG_NUMBERS,
    "simulated": SIMULATED,
    "no_cann": NO_CANN,
    "unclear": UNCLEAR,
    "measured": MEASURED,
    "nasty": NASTY_REPORT,
}
