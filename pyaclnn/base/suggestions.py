# SPDX-License-Identifier: Apache-2.0
"""A reader of command lines that names what was mistyped, and what may have been meant."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import SupportsWrite

__all__ = ["Parser"]

_USAGE = 2
"""The exit status of a command line that cannot be read, as argparse has it."""


class Parser(argparse.ArgumentParser):
    """A parser as the standard library's, in what it takes; what it says is to be acted on.

    A mistyped option is told as such, by the command to which it was given: argparse goes on, takes
    its value for something else, and complains about that. A word that is none of the choices is
    told with the nearest. Who names no command is shown which there are. Help and version are
    output as any other: argparse hides that it failed.
    """

    _given: Sequence[str] = ()

    # argparse declares it several times, by the type of the namespace.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, as argparse does, but leave nothing over: what is left is an error here."""
        self._given = sys.argv[1:] if args is None else args
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found, left

    def error(self, message: str) -> NoReturn:
        """End the program with the usage and what is wrong: first of all, a mistyped option."""
        if not self._given and any(action.nargs == argparse.PARSER for action in self._actions):
            self.print_help(sys.stderr)
            self.exit(_USAGE, f"\n{self.prog}: error: {message}\n")
        mistyped = next(filter(self._is_unknown, self._options()), None)
        if mistyped is not None:
            name = mistyped.partition("=")[0]
            known = [option for option in self._option_string_actions if option.startswith("--")]
            message = f"unrecognized arguments: {name}{_nearest(name, known)}"
        super().error(message)

    def _options(self) -> Iterable[str]:
        """What was given to this command, and not to one below it, and looks like an option."""
        below = any(
            action.nargs in {argparse.PARSER, argparse.REMAINDER} for action in self._actions
        )
        for text in self._given:
            if text == "--" or (below and not text.startswith("-")):
                return
            if (
                text.startswith("-")
                and text != "-"
                and not self._negative_number_matcher.match(text)
            ):
                yield text

    def _is_unknown(self, text: str) -> bool:
        name = text.partition("=")[0] if text.startswith("--") else text[:2]
        return not any(option.startswith(name) for option in self._option_string_actions)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _nearest(str(value), map(str, action.choices or ()))
            raise

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message:
            (file or sys.stderr).write(message)


def _nearest(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean '{found[0]}'?" if found else ""
