"""How the members of a run's team work together, as plain data."""

from __future__ import annotations

from typing import Literal, get_args

from controller.specification.agent import Record

Structure = Literal["single", "by-function", "by-environment", "planner-grounder"]
"""``single``: one agent. ``by-function``: a main agent that sees, and a tool agent that acts. ``by-environment``: a
main agent that sees everything, one agent a machine, and a root agent for the session.
``planner-grounder``: a planner that names elements, and a grounder that finds them on the screen."""
Calls = Literal["functions", "json"]
"""How actions are called: as tools of the vendor's API, or as JSON in the text of replies."""

STRUCTURES: tuple[Structure, ...] = get_args(Structure)
MAIN, TOOL, ROOT, PLANNER, GROUNDER = "main", "tool", "root", "planner", "grounder"
"""Names of members; the others of ``by-environment`` are named after the roles of machines."""


class TeamSpec(Record):
    """The team of a run.

    Attributes:
        structure: how its members work together.
        calls: how they call actions.
        prompts: SHA-256 of the members' prompt texts; empty if there is no team.
    """

    structure: Structure = "single"
    calls: Calls = "functions"
    prompts: str = ""

    @property
    def is_single(self) -> bool:
        """Whether there is no team, but an agent of any kind."""
        return not self.prompts


SINGLE = TeamSpec()


def member_names(structure: Structure, roles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a team's members.

    Args:
        structure: how they work together.
        roles: roles of machines in the tasks.
    """
    names: dict[Structure, tuple[str, ...]] = {
        "by-function": (MAIN, TOOL),
        "by-environment": (MAIN, *roles, ROOT),
        "planner-grounder": (PLANNER, GROUNDER),
    }
    return names.get(structure, ())
