"""The commands and alerts of docs/operations.md exist."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import typer
import yaml

from appliance.cli.main import build_app
from foundation.process import run

REPOSITORY = Path(__file__).resolve().parents[4]
PAGE = (REPOSITORY / "docs/operations.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """Return every command line of Mesocosm on the page."""
    blocks = re.findall(r"```(?:sh|cron|ini)\n(.*?)```", PAGE, re.DOTALL)
    command_lines = [
        match
        for block in blocks
        for line in block.splitlines()
        for match in re.findall(r"\bmesocosm ((?:status|\w+)[^|>#&;)]*)", line.split("  #")[0])
        if not line.startswith("#")
    ]
    command_lines += re.findall(r"`mesocosm ([^`<]+?)(?: <[^`]*)?`", PAGE)
    return sorted(
        {line.strip() for line in command_lines if "RUN" not in line and "FILE" not in line}
    )


def test_page_names_commands() -> None:
    assert {"status -q", "image prune --yes", "resume latest"} <= set(commands())


def error_of(line: str, root: Any) -> str:  # noqa: ANN401 - typer's own click
    """Return the error of a command line; nothing is executed."""
    command, args = root, shlex.split(line)
    while args and args[0] in getattr(command, "commands", {}):
        command = command.commands[args.pop(0)]
    if "show" in getattr(command, "commands", {}):  # `results RUN` is `results show RUN`
        command = command.commands["show"]
    if args and getattr(command, "commands", {}):
        return f"{line}: no command {args[0]}"
    options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    unknown = {word for word in args if word.startswith("-")} - options
    if unknown:
        return f"{line}: no option {', '.join(sorted(unknown))}"
    is_argument = bool(args) and not args[0].startswith("-")
    return f"{line}: takes no argument" if is_argument and not command.params else ""


def test_every_command_on_the_page_exists() -> None:
    root = typer.main.get_command(build_app())
    assert [fault for line in commands() if (fault := error_of(line, root))] == []
    assert error_of("status --loudly", root)
    assert error_of("statuses now", root)


def test_every_alert_is_explained() -> None:
    rules = yaml.safe_load((REPOSITORY / "monitoring/prometheus/rules.yml").read_text())
    alerts = {rule["alert"] for rule in rules["groups"][0]["rules"] if "alert" in rule}
    assert alerts == set(re.findall(r"`([A-Z]\w+)`", PAGE.split("## Alerts")[1].split("## ")[0]))


DOCKER = """#!/bin/sh
case "$1" in
save) shift; echo "saved: $*" ;;
load) cat >"$STATE/loaded" ;;
esac
"""
LISTED = {
    "images": [
        {"name": "base", "docker_tag": "mesocosm/base:1"},
        {"name": "desktop", "docker_tag": None},
        {"name": "phone", "docker_tag": "mesocosm/phone:2"},
        {"name": "broken", "state": "image_corrupt"},
    ]
}


def test_images_are_moved_with_their_keys_by_the_commands_on_the_page(tmp_path: Path) -> None:
    block = PAGE.split("## Moving images")[1].split("```sh\n")[1].split("```")[0]
    lines = [line for line in block.splitlines() if not line.startswith(("#", "make up"))]
    assert len(lines) == 5
    programs, state, old = tmp_path / "bin", tmp_path / "state", tmp_path / "old"
    programs.mkdir()
    listed = f"#!/bin/sh\ncat <<'END'\n{json.dumps(LISTED)}\nEND\n"
    for name, text in {"docker": DOCKER, "mesocosm": listed}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (state / "images/desktop/debian-12").mkdir(parents=True)
    (state / "images/desktop/debian-12/disk.qcow2").write_bytes(b"disk")
    (state / "keys").mkdir(mode=0o700)
    (state / "keys/id_ed25519").write_text("secret")
    (state / "keys/id_ed25519").chmod(0o600)

    def carry_out(lines: list[str]) -> None:
        script = "\n".join(["set -eu", *lines]).replace("/var/lib/mesocosm", str(state))
        env = {"PATH": f"{programs}:{os.environ['PATH']}", "STATE": str(state)}
        run(["bash", "-c", script], env=env, cwd=tmp_path).require()

    carry_out(lines[:3])
    state.rename(old)
    carry_out(lines[3:])
    assert (state / "loaded").read_text() == "saved: mesocosm/base:1 mesocosm/phone:2\n"
    assert (state / "images/desktop/debian-12/disk.qcow2").read_bytes() == b"disk"
    key = state / "keys/id_ed25519"
    assert (key.read_text(), key.stat().st_mode & 0o777) == ("secret", 0o600)
