"""Threat model of evaluators of git repositories.

What the agent's user can do to their input: everything that it can do to files
(`tests.attacks.files`), for many related files; write objects, references, grafts, replacements,
alternates, ``commondir``, ``.git`` files, configuration, and hooks by hand; move commits between
two reads.

Defences: the references and objects that git itself would use are copied to a folder that the user
cannot write to; git verifies the copy, and runs on it with a separate configuration.
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
_BESIDE = f"""make_right() {{\n{_RIGHT}\n}}
make_wrong() {{\n{_WRONG}\n}}
elsewhere=$(mktemp -d); make_wrong "$elsewhere/wrong"
"""
_START = f"make_right() {{\n{_RIGHT}\n}}\n{_WRONG}{_OBJECTS}head=$(right)\n"

HOSTILE = (
    hostile(
        FAMILY,
        REPOSITORY,
        "commondir that names another repository",
        _BESIDE + 'make_right "$1"; echo "$elsewhere/wrong/.git" > "$1/.git/commondir"; '
        'test "$(git -C "$1" log -1 --format=%s)" = Begin || rm -rf "$1"',
        "references and objects are read from where git reads them",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "link as commondir",
        _BESIDE + 'make_right "$1"; echo "$elsewhere/wrong/.git" > "$1.common"; '
        'ln -s "$1.common" "$1/.git/commondir"',
        "a repository with a link in place of one of its files is unmet",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "link as list of alternates",
        _START + 'echo "$elsewhere/right/.git/objects" > "$1.more"; '
        'ln -s "$1.more" "$1/.git/objects/info/alternates"; git -C "$1" update-ref HEAD "$head"',
        "a repository with a link in place of one of its files is unmet",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        "replaced commit",
        _START + 'own=$(git -C "$1" rev-parse HEAD); git -C "$1" fetch -q "$elsewhere/right" HEAD; '
        'git -C "$1" replace "$own" "$head"',
        "a repository with replacements is unmet",
    ),
    hostile(
        FAMILY,
        REPOSITORY,
        ".git file next to the repository",
        _BESIDE + 'make_right "$1"; mv "$1/.git" "$1/git"; '
        'echo "gitdir: $elsewhere/wrong/.git" > "$1/.git"',
        "the repository that git finds is read",
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
