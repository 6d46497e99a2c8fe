from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.confirmations import pending
from foundation.clock import wait_until
from tests.unit.controller.bench import Scripted
from tests.unit.controller.service.test_pages import sign_in
from tests.unit.controller.test_confirmations import (
    MOVE,
    TYPE,
    Started,
    approve_all,
    begin,
)

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext
    from tests.unit.controller.lab import Lab


@pytest.mark.slow
def test_person_confirms_on_the_page(lab: Lab, browser: TestClient, context: ApiContext) -> None:
    trial = Started(lab, begin(lab, context.settings.runs_dir, Scripted(TYPE, MOVE)))
    trial.waiting()
    sign_in(browser, context)
    path = f"/runs/{trial.run.spec.run}/confirmations"
    text = browser.get(path).text
    assert "rm -rf ~" in text
    form = {"task": "dark-style", "repeat": "0", "number": "1", "approve": "false", "reason": "No."}
    assert browser.post(f"{path}/answer", data=form).status_code == 200
    assert wait_until(
        lambda: [row for row in pending(trial.run) if row.question.number == 2], timeout_s=20
    )
    assert browser.post(f"{path}/answer", data=form).status_code == 404
    assert "&#34;move&#34;" in browser.get(path).text
    browser.post(f"{path}/answer", data={**form, "number": "2", "approve": "true"})
    approve_all(trial)
    assert trial.result().members["agent"].refused == {"refused_by_person": 1}
    assert "No action waits" in browser.get(path).text
    assert path in browser.get(f"/runs/{trial.run.spec.run}").text
