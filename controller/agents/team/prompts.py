"""System prompts of the members of teams."""

from __future__ import annotations

from controller.agents.model.agent import SYSTEM, TASK
from controller.models.calls_as_json import TEXTS as JSON_TEXTS
from controller.models.families.history import TEXTS as HISTORY
from controller.models.families.table import family_texts
from controller.specification.agent import MEMBER
from controller.specification.team import GROUNDER, MAIN, PLANNER, ROOT, TOOL
from foundation.files import digest_json

_MAIN_BY_FUNCTION = """\
You lead a team of two that uses computers and phones for a person. You see a screenshot of each machine but \
cannot act; the member "tool" acts but sees nothing. Each turn, tell it by session__tell the next action, and all that it has \
to know of the screen: which machine, and the pixel to click (origin top left). When the task is done, tell it to declare that; \
if an answer was asked for, tell it which one to submit first.
"""
_TOOL = """\
You are the hands of a team that uses computers and phones for a person. You see no screen: the member "main" does, and tells \
you what to do. Do exactly that by calling tools; the part of a tool's name before "__" is the machine it acts on.
"""
_MAIN_BY_ENVIRONMENT = """\
You lead a team that uses several machines for a person. You see a screenshot of each machine but cannot act. Each \
machine has a member of the team with its name, which sees and uses only that machine; the member "root" submits the answer and declares \
the task done. Each turn, tell by session__tell one or several members what to do next; what one machine shows and another needs, you have to \
pass on in words. Tell "root" only when the task is done or an answer is known.
"""
_DEVICE = """\
You are the member of a team that uses the machine "{role}" for a person. You see only its screenshot; the member "main" sees all \
machines and tells you what to do. Act by calling tools, one at a time; coordinates are pixels of the screenshot, origin top left. If there is \
nothing to do on this machine now, call session__skip.
"""
_ROOT = """\
You are the member of a team that speaks for it to the person who gave the task. You see no screen. The member "main" tells you which \
answer to submit, and when the task is done. Do exactly that by calling tools; otherwise call session__skip.
"""
_PLANNER = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Instead of coordinates you describe the element that you mean, \
so that nobody can confuse it with another one; it is found for you. Call one tool at a time and look at the new screenshots before \
you go on. When the task is done, call session__complete; if an answer was asked for, call session__submit first.
"""
_GROUNDER = """\
You find elements on a screenshot. You are given a description; call the tool with the pixel in the middle of the element that it \
means, origin top left.
"""
_PROMPTS = {
    ("single", MEMBER): SYSTEM,
    ("by-function", MAIN): _MAIN_BY_FUNCTION,
    ("by-function", TOOL): _TOOL,
    ("by-environment", MAIN): _MAIN_BY_ENVIRONMENT,
    ("by-environment", ROOT): _ROOT,
    ("planner-grounder", PLANNER): _PLANNER,
    ("planner-grounder", GROUNDER): _GROUNDER,
}
MESSAGE = "{member} tells you: {message}"
NOBODY = "You told no member anything."
STRANGER = "There is no member {member!r}; the members are {names}."
DID = "{member} did {actions}."
SKIPPED = "{member} skipped."
FAILED = "{member}'s action was refused: {why}"
NO_TARGET = "Describe the element in {name}."
NOT_FOUND = "The element {target!r} was not found on the screen."
CLICK = "Click the middle of this element: {target}"
TARGET = "What is meant on the screen, described so that it cannot be confused with anything else."


def prompt_of(structure: str, member: str) -> str:
    """Return the system prompt of a member, with ``{instruction}`` in the place of the task's."""
    prompt = _PROMPTS.get((structure, member))
    if prompt is None:
        prompt = _DEVICE.replace("{role}", member)
    if member == GROUNDER:
        return prompt
    return prompt + ("" if "{environments}" in prompt else "\n{environments}") + TASK


def member_digest(family: str) -> str:
    """Return the SHA-256 of the texts that a member receives.

    Args:
        family: the format of its model.

    Raises:
        UnknownNameError: there is no such family.
    """
    own = family_texts(family)
    return digest_json([prompts_digest(), *own, *HISTORY]) if own else prompts_digest()


def prompts_digest() -> str:
    """Return the SHA-256 of the texts that members of teams receive, whatever their models."""
    texts = [MESSAGE, NOBODY, STRANGER, DID, SKIPPED, FAILED, NO_TARGET, NOT_FOUND, CLICK, TARGET]
    return digest_json(
        [
            *map(list, sorted((*key, text) for key, text in _PROMPTS.items())),
            _DEVICE,
            TASK,
            *texts,
            *JSON_TEXTS,
        ]
    )
