# SPDX-License-Identifier: Apache-2.0
"""Status codes: numbers and names, the exception each becomes, and its hint.

Names and numbers come from the constants of the compiled binding and are joined here with
`pyaclnn.facts.explanations`, which is keyed by name.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn._binding import lib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.base.errors import AclError
    from pyaclnn.facts.explanations import Explanation

__all__ = [
    "PREFIXES",
    "Meaning",
    "code_named",
    "describe_failure",
    "explanation",
    "meaning",
    "names",
]

PREFIXES: Final = ("ACL_ERROR_", "ACLNN_ERR_", "ACLNN_SUCCESS", "MOCK_")
"""Beginnings of the names of status codes."""


class Meaning(NamedTuple):
    """One status code explained."""

    name: str
    exception: type[AclError]
    hint: str


@functools.cache
def names() -> Mapping[int, str]:
    """Return the name of every status code, by its number.

    If two names share a number, the current spelling wins.
    """
    # The last in sorted order is the current spelling.
    named = sorted(name for name in dir(lib) if name.startswith(PREFIXES))
    return {int(getattr(lib, name)): name for name in named}


def code_named(name: str) -> int:
    """Return the number of the status code that CANN's headers call ``name``."""
    return int(getattr(lib, name))


def explanation(code: int) -> Explanation:
    """Return the explanation of a status code; a general one of an unknown code.

    Args:
        code: The value that a function of CANN returned.
    """
    from pyaclnn.facts.explanations import STATUS, Explanation  # noqa: PLC0415  # errors alone need them
    from pyaclnn.facts.releases import NEWEST  # noqa: PLC0415  # likewise

    known = STATUS.get(names().get(code, ""))
    return known or Explanation(
        meaning=f"No code of CANN {NEWEST} or earlier has this number.",
        causes=("a CANN that is newer than this pyaclnn", "a status that is not CANN's"),
        next_step="the text above is all that CANN says; its log (plog) may say more.",
    )


def meaning(code: int) -> Meaning:
    """Explain a status code.

    Args:
        code: The value that a function of CANN returned.

    Returns:
        Its name, the exception class it becomes and a hint. Unknown codes have the name
        ``UNKNOWN`` and become a plain ``AclError``.
    """
    known = explanation(code)
    return Meaning(names().get(code, "UNKNOWN"), known.exception, known.next_step)


_SIMULATION: Final = r"(?s)simulated NPU: .*?\b(PYACLNN_MOCK_[A-Z]+)\b(?! chooses| allows)"
"""A failure by a variable; one that only bounds what has run out is not its cause."""


def _hint_of_simulation(name: str, detail: str | None, hint: str) -> str | None:
    """Return the hint for a simulated NPU; None for any other failure."""
    if name == "MOCK_NOT_IMPLEMENTED":  # the variable it names is one of the ways to a kernel
        return None
    found = re.search(_SIMULATION, detail or "")
    if found:
        return f"set {found[1]} as CANN says above, or unset it, and start again."
    if "simulated NPU: " not in (detail or "") or "npu-smi" not in hint:
        return None
    # Hardware is not the cause.
    kept = [sentence for sentence in hint.split(". ") if "npu-smi" not in sentence]
    return f"{'. '.join(kept).rstrip('.')}." if kept else "do what CANN says above, and try again."


def describe_failure(
    routine: str,
    code: int,
    detail: str | None,
    arguments: Mapping[str, str],
    cause: int | None = None,
) -> AclError:
    """Build the exception for a status code, without raising it.

    Args:
        routine: The C function that returned the code.
        code: The status code.
        detail: CANN's text for it, or None.
        arguments: Parameter name to description.
        cause: The code of the runtime call inside that failed, if ``code`` reports one.

    Returns:
        An exception of the class of the code, or of its cause, with everything known in its text
        and attributes.
    """
    name, exception, hint = meaning(code)
    failure = f"{routine} failed with {code} ({name})"
    if cause:
        inner, exception, hint = meaning(cause)
        failure += f", because a call to the runtime inside it failed with {cause} ({inner})"
    lines = [f"{failure}.", f"CANN says: {detail or 'nothing more.'}"]
    if arguments:
        lines.append("Arguments:")
        lines += [f"  {key} = {value}" for key, value in arguments.items()]
    lines.append(f"Hint: {_hint_of_simulation(name, detail, hint) or hint}")
    error = exception(
        "\n".join(lines), code=code, name=name, routine=routine, detail=detail, arguments=arguments
    )
    error.cause = cause or None
    return error
