"""Command groups whose help is plain text that is not truncated in 80 columns."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

_WHOLE_SENTENCE_CHARS = 500


class FullSentenceGroup(TyperGroup):
    """A group that lists each command with the full first sentence of its help."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 - Typer's own click is private
        """Write the list of commands."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, command.get_short_help_str(_WHOLE_SENTENCE_CHARS))
            for name, command in commands
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def make_group(cls: type[FullSentenceGroup] = FullSentenceGroup, **settings: Any) -> typer.Typer:  # noqa: ANN401 - as Typer takes them
    """Create a command group.

    Args:
        cls: class of the group.
        settings: further arguments of `typer.Typer`.
    """
    return typer.Typer(cls=cls, rich_markup_mode=None, **settings)
