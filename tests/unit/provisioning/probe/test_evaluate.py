"""Waves of evaluators in the probe's helper process."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

from evaluators.attribution import cause_of
from evaluators.graph.outcome import Cause
from provisioning.probe.evaluate import Judge
from provisioning.probe.system.identity import Identity
from provisioning.probe.system.session import Sessions

if TYPE_CHECKING:
    import pytest

BUNDLE = {"op": "bundle", "params": {"digest": "d", "modules": {"m": "def f(guest):\n    ...\n"}}}
WAVE = {
    "op": "evaluate",
    "params": {"bundle": "d", "calls": [{"node": "n", "name": "f", "args": {}}]},
}


def test_a_wave_that_cannot_be_started_is_undecided_because_of_the_guest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when the agent has used up the memory: the probe runs, but no further process."""

    def fork() -> int:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(os, "fork", fork)
    requests, told = os.pipe()
    heard, replies = os.pipe()
    for number, request in enumerate((BUNDLE, WAVE)):
        os.write(told, json.dumps({"id": number, "timeout_s": 5, **request}).encode() + b"\n")
    os.close(told)
    Judge(Sessions(Identity.own().name), requests, replies).run()
    os.close(requests)
    os.close(replies)
    with os.fdopen(heard) as file:
        rows = [json.loads(line) for line in file]
    (outcome,) = rows[1]["result"]
    assert outcome["met"] is None
    assert cause_of(outcome["code"]) is Cause.OBSTRUCTION
