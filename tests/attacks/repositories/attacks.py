"""Threat model of evaluators of git repositories.

What the agent's user can do to their input: everything that it can do to files
(`tests.attacks.files`), for many related files; write objects, references, grafts, replacements,
alternates, configuration, and hooks by hand; move commits between two reads.

Defences: only references and objects are copied to a folder that the user cannot write to; git
verifies the copy, and runs on it with a separate configuration.
"""

from __future__ import annotations

from evaluators.graph.outcome import Call
from tests.attacks.model import NO_TOOL, ShellAttack
from tests.attacks.techniques import (
    MOUNTS,
    TIMES,
    WRITES,
    Target,
    ThreatModel,
    generate,
    honest,
    hostile,
)

FAMILY = "repositories"
MESSAGE = "Fix the boiler"
_GIT = f"""
command -v git > /dev/null || {{ echo {NO_TOOL}; exit 0; }}
commit() {{
    GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z" \\
        git -C "$1" -c user.name=Ann -c user.email=ann@lab.test commit -q --allow-empty -m "$2"
}}
"""
_WRONG = f"""{_GIT}
git init -q -b main "$1"; echo a > "$1/a"; git -C "$1" add a; commit "$1" Begin
"""
_RIGHT = f"""{_WRONG}
commit "$1" "{MESSAGE}"
"""


def _message(path: str) -> Call:
    return Call("message", "git_commit_message_is", {"path": path, "message": MESSAGE})


REPOSITORY = Target("repository", "project", _RIGHT, _WRONG, _message, inner=".git/HEAD")
_MODEL = ThreatModel(FAMILY, (REPOSITORY,), WRITES, MOUNTS, TIMES)

_OBJECTS = """
elsewhere=$(mktemp -d)
right() { make_right "$elsewhere/right"; git -C "$elsewhere/right" rev-parse HEAD; }
"""
_START = f"make_right() {{\n{_RIGHT}\n}}\n{_WRONG}{_OBJECTS}head=$(right)\n"

HOSTILE = (
    hostile(
        FAMILY,
        REPOSITORY,
        "objects stored elsewhere",
        _START + 'echo "$elsewhere/right/.git/objects" > "$1/.git/objects/info/alternates"; '
        'git -C "$1" update-ref HEAD "$head"',
        "objects stored elsewhere are not copied, and the verification fails",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "replaced commit",
        _START + 'own=$(git -C "$1" rev-parse HEAD); git -C "$1" fetch -q "$elsewhere/right" HEAD; '
        'git -C "$1" replace "$own" "$head"',
        "replacements are not copied",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        ".git file",
        _START + 'rm -rf "$1/.git"; echo "gitdir: $elsewhere/right/.git" > "$1/.git"',
        "a file is not a repository",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "object with another's content",
        _START
        + 'own=$(git -C "$1" rev-parse HEAD); a=$1/.git/objects/$(echo $own | cut -c-2)/$(echo $own '
        "| cut -c3-); b=$elsewhere/right/.git/objects/$(echo $head | cut -c-2)/$(echo $head | cut -c3-); "
        'chmod u+w "$a"; cp -f "$b" "$a"',
        "git verifies each object",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "programs in the configuration",
        _WRONG
        + "for key in core.fsmonitor core.sshCommand core.pager diff.external core.hooksPath; do "
        'git -C "$1" config $key "touch $HOME/was-run"; done; '
        'for name in post-checkout reference-transaction; do printf "#!/bin/sh\\ntouch ~/was-run\\n" '
        '> "$1/.git/hooks/$name"; chmod +x "$1/.git/hooks/$name"; done; rm -f ~/was-run',
        "neither configuration nor hooks are copied",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "too many references",
        _WRONG + 'mkdir -p "$1/.git/refs/heads/x"; head=$(git -C "$1" rev-parse HEAD); '
        "for a in 0 1 2 3 4 5 6 7 8 9; do for b in 0 1 2 3 4 5 6 7 8 9; do for c in 0 1 2 3; do "
        'echo $head > "$1/.git/refs/heads/x/$a$b$c"; done; done; done',
        "the number of files is limited",
    ),
)
ATTACKS: tuple[ShellAttack, ...] = (*generate(_MODEL), *HOSTILE)
HONEST = (honest(FAMILY, REPOSITORY),)
