# SPDX-License-Identifier: Apache-2.0
"""Bundle for a bug report: every format in one archive, without private data."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.fleet import Fleet, merge
from pyaclnn.health.report.html import as_html
from pyaclnn.health.report.junit import as_junit
from pyaclnn.health.report.record import host_name
from pyaclnn.health.report.redaction import names_of_this_machine, redact
from pyaclnn.health.report.text import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.record import Report

__all__ = ["as_bundle"]

_LATEST: Final = 2**32 - 1
_FOLDER: Final = "pyaclnn-doctor"

_READ_ME: Final = """\
What `pyaclnn doctor` found, for a bug report.

    report.txt     to read
    report.html    to look at; opens without a network
    report.json    for programs
    report.xml     for continuous integration (JUnit)

Taken out: names of users and machines, folders that are not part of a usual installation, network
addresses, whatever looks like a password or token, and every environment variable that neither CANN
nor pyaclnn reads. Please look through report.txt before you hand this on.
"""


def as_bundle(given: Sequence[Report] | Fleet) -> bytes:
    """Return a gzipped tar archive of the reports, without what is private.

    The same reports make the same bytes.

    Args:
        given: The reports of one or more machines.
    """
    reports = given.reports if isinstance(given, Fleet) else given
    whole = map(given.reports.whole, range(len(reports))) if isinstance(given, Fleet) else reports
    names = names_of_this_machine() | {host_name(report) for report in reports}
    redacted = (redact(report, number, names) for number, report in enumerate(whole, 1))
    shared = list(redacted) if len(reports) == 1 else merge(redacted)
    files = {
        "README.txt": _READ_ME,
        "report.txt": as_text(shared),
        "report.html": as_html(shared),
        "report.json": shared.to_text() if isinstance(shared, Fleet) else shared[0].to_text(),
        "report.xml": as_junit(shared),
    }
    # An archive holds fewer dates than Python does.
    started = reports[0].moment
    when = min(max(int(started.timestamp()), 0), _LATEST) if started else 0
    packed = io.BytesIO()
    # gzip would write the file's name and the time of packing into its header.
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=when) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{_FOLDER}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), when, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
