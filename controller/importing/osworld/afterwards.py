"""What OSWorld does before it judges a task (`postconfig`): mostly, it saves for the agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.importing.osworld.shell import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.importing.osworld.file import Judgement, OsworldStep
    from controller.importing.osworld.job import Job

_KEYS = r"hotkey\(\[?\s*['\"]{}['\"]"
_SAVES = re.compile(_KEYS.format(r"ctrl['\"],\s*['\"]s"))
_QUITS = re.compile(_KEYS.format(r"ctrl['\"],\s*['\"]q"))
_EXPORTS = re.compile(_KEYS.format(r"shift['\"],\s*['\"]ctrl['\"],\s*['\"]e"))
_TYPES = re.compile(r"pyautogui\.write\(\s*['\"]([^'\"]+)['\"]")
_HARMLESS = frozenset({"sleep", "activate_window"})
SAVE = "Save your changes before you finish."
EXPORT = "Export your result before you finish."
QUIT = "Quit the application before you finish."


def add_afterwards(job: Job, judgements: Sequence[Judgement]) -> None:
    """Note what is done for the agent, and tell the agent to do it itself."""
    steps = [step for step in job.task.evaluator.postconfig if step.type not in _HARMLESS]
    texts = [program_of(step.parameters.get("command")) for step in steps]
    driven = [text for text in texts if "pyautogui" in text]
    typed = [name for text in driven for name in _TYPES.findall(text)]
    if any(_EXPORTS.search(text) for text in driven):
        if not all(name in job.task.instruction for name in typed):
            what = "exports for the agent, under a name that the agent is not told"
            job.draft.refuse("save", what)
            return
        job.draft.miss("save", "exports for the agent; here the instruction asks for it")
        job.draft.instruction += f"\n\n{EXPORT}"
    elif typed:
        job.draft.refuse("gui", "types on the screen before it judges")
    for pattern, what, sentence in (
        (_SAVES, "presses Ctrl+S", SAVE),
        (_QUITS, "quits the application", QUIT),
    ):
        if any(pattern.search(text) for text in driven):
            job.draft.miss("save", f"{what} for the agent; here the instruction asks for it")
            job.draft.instruction += f"\n\n{sentence}"
    for step, text in zip(steps, texts, strict=True):
        if text not in driven and not _is_needless(job, step, text, judgements):
            job.draft.refuse("save", f"{step.type} before it judges: {text[:80] or 'no command'}")


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
