"""An evaluation of your own on a desktop: `inspect eval evaluation.py --model …`."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.tool import bash_session, computer

from mesocosm.inspect.suite import graph, instruct


@task
def editor() -> Task:
    """Use the screen and a shell; the task's graph is the scorer."""
    sample = Sample(input="see instruct", sandbox=("mesocosm", "smoke/desktop-editor"))
    agent = react(tools=[computer(), bash_session()])
    return Task(dataset=[sample], solver=[instruct(), agent], scorer=graph())
