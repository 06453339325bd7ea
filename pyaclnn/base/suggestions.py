# SPDX-License-Identifier: Apache-2.0
"""Command-line parser that suggests corrections for mistyped words."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pyaclnn.base.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import SupportsWrite

__all__ = ["Parser"]

_USAGE = 2
"""Exit status of an invalid command line, as of argparse."""


class Parser(argparse.ArgumentParser):
    """argparse's parser with error messages that a user can act on.

    The message names a mistyped option and the command that it was given to (argparse continues,
    and reports its value instead); it suggests the nearest choice for an invalid word. Without a
    command, the help lists all commands. A failure to write help or version is an error, as of
    other output. A command whose ``words`` have a default gets there what its options do not take.
    """

    _given: Sequence[str] = ()

    # argparse declares it several times, by the type of the namespace.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse as argparse does; unrecognized arguments are an error."""
        self._given = sys.argv[1:] if args is None else args
        takes_all = self.get_default("words") is not None
        self.allow_abbrev = not takes_all
        found, left = super().parse_known_args(args, namespace)
        if takes_all:
            found.words, left = left, []
        if left:
            option = f"--{left[0]}"
            hint = f"; did you mean '{option}'?" if option in self._option_string_actions else ""
            hint = hint or self._options_with_values(left[0])
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return found, left

    def error(self, message: str) -> NoReturn:
        """Exit with the usage and a message, which prefers to name a mistyped option."""
        if not self._given and any(action.nargs == argparse.PARSER for action in self._actions):
            self.print_help(sys.stderr)
            self.exit(_USAGE, f"\n{self.prog}: error: {message}\n")
        mistyped = next(filter(self._is_unknown, self._options()), None)
        if mistyped is not None:
            name = mistyped.partition("=")[0]
            known = [option for option in self._option_string_actions if option.startswith("--")]
            message = f"unrecognized arguments: {name}{did_you_mean(name, known, lead='; ')}"
        super().error(message)

    def _options_with_values(self, word: str) -> str:
        """Return a hint at the options that take a value, for a word that is no option."""
        taking = [action for action in self._actions if action.option_strings and action.nargs != 0]
        listed = [f"{one.option_strings[-1]} {one.metavar or one.dest.upper()}" for one in taking]
        is_value = listed and not word.startswith("-")
        return f"; a value follows its option: {', '.join(listed)}" if is_value else ""

    def _options(self) -> Iterable[str]:
        """Yield the options that were given to this command, and not to a sub-command."""
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
            error.message += did_you_mean(str(value), map(str, action.choices or ()), lead="; ")
            raise

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message:
            (file or sys.stderr).write(message)
