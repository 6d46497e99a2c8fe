"""Ask the person at the terminal to confirm the actions of a run."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from typing import TYPE_CHECKING

import typer

from appliance.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.confirmations import Pending
    from controller.episode.confirmation import Answer
    from controller.store.runs import RunFolder


@contextlib.contextmanager
def confirming(folder: RunFolder) -> Iterator[None]:
    """Ask about each action during a block, if the run wants it and there is a terminal.

    Args:
        folder: of the run.
    """
    if not folder.spec.actions.confirm:
        yield
        return
    say(f"Each action waits for approval, here or at /runs/{folder.spec.run}/confirmations.")
    if not sys.stdin.isatty():
        say("There is no terminal here: answer on the page.")
        yield
        return
    from controller.confirmations import answer_each

    over = threading.Event()
    thread = threading.Thread(target=answer_each, args=(folder, _ask, over.is_set), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


def _ask(waiting: Pending) -> Answer:
    from controller.episode.confirmation import MAX_REASON_CHARS, Answer

    action = json.dumps(waiting.question.action, ensure_ascii=True)
    say(f"{waiting.task}.{waiting.repeat}, action {waiting.question.number}: {action[:2000]}")
    if typer.confirm("Approve?", default=True, err=True):
        return Answer(is_approved=True)
    reason = typer.prompt("Reason", default="", show_default=False, err=True)
    return Answer(is_approved=False, reason=str(reason)[:MAX_REASON_CHARS])
