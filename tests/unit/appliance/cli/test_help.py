"""The help of every command, in 80 columns: no name and no sentence is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from appliance.cli.main import build_app, main

if TYPE_CHECKING:
    from collections.abc import Iterator


Path = tuple[str, ...]


def commands(command: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401 - Typer's own click is private
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


def options(command: Any) -> set[str]:  # noqa: ANN401 - as above
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    return {name for parameter in shown for name in parameter.opts if name.startswith("--")}


@pytest.mark.slow
def test_help_fits_a_terminal_of_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    all_commands = list(commands(typer.main.get_command(build_app())))
    assert len(all_commands) > 60
    for path, command in all_commands:
        assert main([*path, "--help"]) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80, path
        assert "…" not in out, path
        tokens = {word.rstrip(",") for word in out.replace("/", " ").split()}
        assert options(command) <= tokens, path
        for name, below in getattr(command, "commands", {}).items():
            sentence = (below.help or "").split("\n\n")[0].partition(". ")[0].rstrip(".")
            # Words may be broken after their hyphens.
            is_whole = "".join(sentence.split()) in "".join(out.split())
            assert below.hidden or is_whole, (*path, name)
