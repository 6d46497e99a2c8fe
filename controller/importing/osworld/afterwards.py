"""What OSWorld does before it judges a task (`postconfig`): mostly, it saves for the agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.importing.osworld.shell import program_of
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement, OsworldStep
    from controller.importing.osworld.job import Job

_KEYS = r"hotkey\(\[?\s*['\"]{}['\"]"
_EXPORTS = re.compile(_KEYS.format(r"shift['\"],\s*['\"]ctrl['\"],\s*['\"]e"))
_SAVES = re.compile(_KEYS.format(r"ctrl['\"],\s*['\"]s"))
_TYPES = re.compile(r"pyautogui\.write\(\s*['\"]([^'\"]+)['\"]")
_CALL = re.compile(r"pyautogui\.(\w+)\(([^()]*)\)")
_WORD = re.compile(r"['\"]([^'\"]+)['\"]")
_HARMLESS = frozenset({"sleep", "activate_window"})
_NAMES = {
    "enter": "Return",
    "return": "Return",
    "esc": "Escape",
    "escape": "Escape",
    "tab": "Tab",
    **{name: name.capitalize() for name in ("up", "down", "left", "right")},
    **{name: name for name in ("ctrl", "shift", "alt")},
}
SAVE = "Save your changes before you finish."
EXPORT = "Export your result before you finish."


def add_afterwards(job: Job, judgements: Sequence[Judgement]) -> None:
    """Have keys pressed for the agent as the original does, or tell the agent to do it itself."""
    steps = [step for step in job.task.evaluator.postconfig if step.type not in _HARMLESS]
    texts = [program_of(step.parameters.get("command")) for step in steps]
    driven = [text for text in texts if "pyautogui" in text]
    presses = _presses(job.task.evaluator.postconfig)
    if presses is None:
        _ask_for_it(job, driven)
    else:
        job.draft.presses += presses
    for step, text in zip(steps, texts, strict=True):
        if text not in driven and not _is_needless(job, step, text, judgements):
            job.draft.refuse("save", f"{step.type} before it judges: {text[:80] or 'no command'}")


def _ask_for_it(job: Job, driven: Sequence[str]) -> None:
    """Note that the agent has to do what the original does for it, and tell the agent."""
    typed = [name for text in driven for name in _TYPES.findall(text)]
    if any(_EXPORTS.search(text) for text in driven):
        if not all(name in job.task.instruction for name in typed):
            what = "exports for the agent, under a name that the agent is not told"
            job.draft.refuse("save", what)
            return
        job.draft.miss("save", "exports for the agent; here the instruction asks for it")
        job.draft.instruction += f"\n\n{EXPORT}"
    elif any(_SAVES.search(text) for text in driven) and not typed:
        job.draft.miss("save", "presses Ctrl+S for the agent; here the instruction asks for it")
        job.draft.instruction += f"\n\n{SAVE}"
    else:
        job.draft.refuse("gui", "drives the screen before it judges")


def _presses(steps: Sequence[OsworldStep]) -> list[Row] | None:
    """Return the keys that are pressed, in order; None if there is more than keys."""
    presses: list[Row] = []
    window = ""
    for step in steps:
        if step.type == "activate_window":
            window = str(step.parameters.get("window_name", ""))
            if step.parameters.get("by_class") or not step.parameters.get("strict"):
                window = ""
        text = program_of(step.parameters.get("command"))
        if "pyautogui" not in text:
            continue
        keys = _keys_of(text)
        if keys is None:
            return None
        for chord in keys:
            row: Row = {"on": DESKTOP, "keys": chord}
            presses.append(row | ({"window": window} if window else {}))
            window = ""
    return presses


def _keys_of(program: str) -> list[list[str]] | None:
    """Return the keys that a program presses; None if it does something else, too."""
    calls = _CALL.findall(program)
    chords: list[list[str]] = []
    for name, arguments in calls:
        names = [_NAMES.get(key, key if len(key) == 1 else "") for key in _WORD.findall(arguments)]
        if name not in {"hotkey", "press"} or not names or "" in names:
            return None
        chords += [names] if name == "hotkey" else [[key] for key in names]
    return chords if len(calls) == program.count("pyautogui.") else None


def _is_needless(job: Job, step: OsworldStep, text: str, judgements: Sequence[Judgement]) -> bool:
    """Return whether our evaluators do without a step: references, and tables printed as CSV."""
    if step.type in {"download", "open"}:
        expected = {str(judged.expected.get("path")) for judged in judgements}
        given = step.parameters
        files = given.get("files")
        rows = files if isinstance(files, list) else [given]
        return all(isinstance(row, dict) and str(row.get("path")) in expected for row in rows)
    prints = any(
        rule.get("type") == "sheet_print"
        for judged in judgements
        for rule in judged.options.get("rules", [])
    )
    return prints and "--convert-to" in text and not job.draft.refusals
