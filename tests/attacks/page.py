"""Generate the tables of ``docs/red-team.md`` by ``python -m tests.attacks.page``."""

from __future__ import annotations

from foundation.settings import REPOSITORY
from tests.attacks.model import CONTAINER, VM, Attack
from tests.attacks.registry import all_attacks, families

PAGE = REPOSITORY / "docs/red-team.md"
_BEGIN, _END = "<!-- attacks -->\n", "<!-- end of attacks -->\n"


def render() -> str:
    """Return the page with the tables of all attacks."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    tail = rest.partition(_END)[2]
    return f"{head}{_BEGIN}{_tables()}{_END}{tail}"


def _tables() -> str:
    parts = [f"\n{len(all_attacks())} attacks in {len(families())} families.\n"]
    for family in families():
        rows = [_row(attack) for attack in all_attacks() if attack.family == family]
        head = ["| attack | what stops it | in `make test` |", "|---|---|---|"]
        parts.append("\n".join([f"### {family}", "", *head, *rows, ""]))
    return "\n".join(parts) + "\n"


def _row(attack: Attack) -> str:
    places = "nightly" if attack.only_nightly else "stand-in"
    names = {VM: "VM", CONTAINER: "container"}
    places = ", ".join([places, *(names[place] for place in sorted(attack.represents_on))])
    return f"| {attack.name} | {attack.defence} | {places} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
