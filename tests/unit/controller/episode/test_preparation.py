from __future__ import annotations

import pytest

from controller.actions.vocabulary import vocabulary
from controller.episode.preparation import prepare, require_programs
from evaluators.catalogue import builtin_evaluators
from foundation.errors import UnsupportedError
from provisioning.fake import FakeDesktop
from tests.unit.controller.bench import make_task

WITH_FIREFOX = "Firefox ESR 153.7.0esr-1~deb12u1+mesocosm1, Debian's with its libvpx kept apart"
WITHOUT = "GNOME Web, Ubuntu's"
VISITED = {"id": "read", "on": "desktop", "check": "firefox_visited", "with": {"url": "http://a/"}}


def test_firefox_task_is_rejected_on_a_desktop_without_firefox() -> None:
    task = make_task(roles={"desktop": "desktop"}, graph=[VISITED])
    with pytest.raises(
        UnsupportedError, match=r"needs Firefox, which desktop:fake lacks"
    ) as caught:
        prepare(task, {"desktop": FakeDesktop(browser=WITHOUT)}, vocabulary())
    assert "firefox_visited" in caught.value.details
    assert WITHOUT in caught.value.details


@pytest.mark.parametrize("browser", [WITH_FIREFOX, ""])
def test_firefox_task_runs_where_firefox_exists_or_is_unknown(browser: str) -> None:
    task = make_task(roles={"desktop": "desktop"}, graph=[VISITED])
    require_programs(task, {"desktop": FakeDesktop(browser=browser)}, vocabulary())


def test_other_tasks_run_without_firefox() -> None:
    task = make_task(roles={"desktop": "desktop"})
    require_programs(task, {"desktop": FakeDesktop(browser=WITHOUT)}, vocabulary())


def test_all_firefox_evaluators_declare_that_they_need_it() -> None:
    for name, tool in builtin_evaluators()["desktop"].items():
        assert (tool.mark.needs == "Firefox") == name.startswith("firefox_"), name
