"""An agent without a model that reads accessibility trees: a floor that other agents must exceed.

It opens the applications that the instruction names, then acts on the elements whose names occur in
the instruction, the best match first, and declares the task done once there are no others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from controller.actions.phone_shell import PACKAGES
from controller.actions.space import Action
from controller.protocol import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from provisioning.protocols import Element, Json

MAX_ACTIONS = 25
"""Most actions on elements, so that a screen that keeps changing does not keep it busy."""
_DESKTOP_APPS = ("Text Editor", "Terminal", "Calculator", "Settings", "LibreOffice Calc", "Firefox")
_WINDOWS = frozenset({"frame", "dialog", "file chooser", "window", "desktop frame"})
_INOPERABLE = _WINDOWS | {"panel", "label", "scroll pane", "tool bar", "menu bar", "status bar"}
"""Roles of a desktop's elements that hold or describe others."""
_FILE_NAME = re.compile(r"\b[\w-]+\.[a-z]{2,4}\b")
_FILES = re.compile(r"\b(file|folder|document)s?\b", re.IGNORECASE)
_TICK = re.compile(r"\b(tick|check|complete)", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“]([^\"”]{2,80})[\"”]")
_WORD = re.compile(r"[\w.@+-]{3,}")
_COMMON = frozenset(
    [
        "the",
        "and",
        "then",
        "that",
        "this",
        "with",
        "for",
        "from",
        "how",
        "many",
        "are",
        "still",
        "open",
        "its",
        "into",
        "new",
        "one",
        "what",
        "number",
        "task",
        "tasks",
        "phone",
        "desktop",
        "app",
        "file",
        "folder",
        "text",
        "home",
        "make",
        "called",
        "names",
    ]
)
_OPENED_BY_TWO = frozenset({"icon", "table cell", "list item", "canvas", "desktop icon"})
_LEAST_SCORE = 3


class _Choice(NamedTuple):
    """An element to act on."""

    score: int
    role: str
    element: Element


class HeuristicAgent:
    """Acts on what the instruction names.

    Args:
        context: context of the trial; observations must include trees.
    """

    def __init__(self, context: AgentContext) -> None:
        self._instruction = context.instruction
        self._folded = context.instruction.casefold()
        self._words = set(_words(context.instruction))
        self._phones = {role for role, tools in context.space.tools.items() if "tap" in tools}
        machines = [role for role, tools in context.space.tools.items() if "open_app" in tools]
        self._openings = [opening for role in machines for opening in self._apps(role)]
        self._tried: set[tuple[str, str, tuple[int, int]]] = set()
        self._acted = 0

    def act(self, observation: Observation) -> Turn:
        """Open the next application, act on the next element, or declare the task done."""
        if self._openings:
            return Turn((self._openings.pop(0),))
        choice = max(self._choices(observation.trees), default=None, key=lambda one: one.score)
        if choice is None or self._acted >= MAX_ACTIONS:
            return Turn((Action("complete"),))
        self._acted += 1
        return Turn(
            (self._action(choice, observation.trees[choice.role]),),
            note=f"{choice.element.role} {choice.element.name!r} scores {choice.score}",
        )

    def _apps(self, role: str) -> Iterator[Action]:
        """Yield the openings of the applications that the instruction names, in its order."""
        if role in self._phones:
            # Their names are common words, too: on phones they are written with a capital.
            names = [name for name in PACKAGES if name not in {"Phone", "Files"}]
            found = [(m.start(), n) for n in names if (m := self._named(n))]
        else:
            found = [(at, n) for n in _DESKTOP_APPS if (at := self._folded.find(n.casefold())) >= 0]
            if match := _FILES.search(self._instruction):
                if _FILE_NAME.search(self._instruction):
                    found = [row for row in found if row[1] != "Text Editor"]  # the file opens it
                found.append((match.start(), "Files"))
        for _, name in sorted(found):
            yield Action("open_app", role, {"name": name})

    def _named(self, name: str) -> re.Match[str] | None:
        return re.search(rf"\b{re.escape(name)}\b", self._instruction)

    def _choices(self, trees: Mapping[str, Sequence[Element]]) -> Iterator[_Choice]:
        for role, elements in trees.items():
            titles = {element.name for element in elements if element.role in _WINDOWS}
            for element in elements:
                if element.role in _INOPERABLE or element.name.strip("[]") in titles:
                    continue  # a title also names the window's button in the panel
                score = self._score(element)
                if score >= _LEAST_SCORE and self._key(role, element) not in self._tried:
                    yield _Choice(score, role, element)

    def _score(self, element: Element) -> int:
        """Return how well an element's name matches the instruction; 0 for those without a place."""
        name, bounds = element.name.strip(), element.bounds
        if not name or len(name) > len(self._instruction) or bounds.right <= bounds.left:
            return 0
        shared = self._words.intersection(_words(name))
        score = sum(map(len, shared))
        if name.casefold() in self._folded and len(name) > 2:  # noqa: PLR2004 - not a letter
            score += len(name)
        if any(name.casefold() == text.casefold() for text in _QUOTED.findall(self._instruction)):
            score += 100
        return score

    def _action(self, choice: _Choice, elements: Sequence[Element]) -> Action:
        self._tried.add(self._key(choice.role, choice.element))
        target = choice.element
        if _TICK.search(self._instruction):
            target = _box_beside(target, elements) or target
        x, y = target.bounds.center
        args: dict[str, Json] = {"x": max(0, x), "y": max(0, y)}
        if choice.role in self._phones:
            return Action("tap", choice.role, args)
        name = "double_click" if target.role in _OPENED_BY_TWO else "click"
        return Action(name, choice.role, args)

    @staticmethod
    def _key(role: str, element: Element) -> tuple[str, str, tuple[int, int]]:
        return role, element.name, element.bounds.center


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text that say something."""
    for word in _WORD.findall(text.casefold()):
        short = word.strip(".-+@")
        if short not in _COMMON:
            yield short


def _box_beside(element: Element, elements: Sequence[Element]) -> Element | None:
    """Return the box to tick in the same row as an element."""
    _, middle = element.bounds.center
    for other in elements:
        is_box = "checkable" in other.states or other.role.endswith(("CheckBox", "check box"))
        if is_box and other.bounds.top <= middle < other.bounds.bottom:
            return other
    return None
