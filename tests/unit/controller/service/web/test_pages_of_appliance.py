from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from controller.planning import specify_task
from controller.service.machine_service import HostMachineService
from controller.service.state.tokens import Role
from controller.store.proofs import ProofStore, TaskProof, task_key
from controller.wiring import open_suite
from evaluators.metrics.suite_statistics import applications_of
from evaluators.source_digest import SourceDigester
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError, UnknownNameError, UnsupportedError
from images.build_logs import log_path
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.cpu import least_cpu_s
from tests.pages.fake_machine_service import FakeMachineService
from tests.standins.records import desktop_record
from tests.unit.controller.service.context import carry_out
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext
    from controller.specification.request import RunRequest


@pytest.mark.slow
def test_fleet_is_shown_with_screens_and_controlled_by_operators(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context)
    text = browser.get("/fleet").text
    assert "3 machines, 1 in use" in text
    assert 'action="/fleet/desktop-0000/rewind"' in text
    assert 'action="/fleet/desktop-0001/rewind"' not in text  # in use
    picture = browser.get("/fleet/desktop-0000/picture")
    assert picture.content.startswith(b"\x89PNG")
    assert "desktop-0000 was stopped" in browser.post("/fleet/desktop-0000/stop").text
    assert "stopped" in browser.get("/fleet/desktop-0000").text
    assert "desktop-0000 was rewound" in browser.post("/fleet/desktop-0000/rewind").text
    assert "4 machines" in browser.post("/fleet").text
    assert browser.post("/fleet/desktop-0001/stop").status_code == 409
    for path in ("/fleet/nothing", "/fleet/nothing/picture"):
        assert browser.get(path).status_code == 404


@pytest.mark.slow
def test_readers_can_view_machines_and_not_control_them(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context, Role.READ)
    assert browser.get("/fleet/desktop-0000/picture").status_code == 200
    forms = re.findall(r'method="post" action="([^"]+)"', browser.get("/fleet").text)
    assert forms == ["/logout"]
    for path in ("/fleet", "/fleet/desktop-0000/rewind", "/fleet/desktop-0000/stop", "/human"):
        assert browser.post(path, data={"task": "smoke/x"}).status_code == 403


@pytest.mark.slow
def test_thousand_machines_take_half_a_second(context: ApiContext) -> None:
    from controller.service.web.templating import render

    machine_service = FakeMachineService(1000, SYSTEM_CLOCK)

    def show() -> str:
        values = {
            "context": context,
            "rows": machine_service.rows(),
            "lost": [],
            "used": 1,
            "done": "",
        }
        return render("fleet/fleet", role=Role.OPERATE, **values)

    spent_s, text = least_cpu_s(show)
    assert spent_s < 0.5
    assert text.count("data-screen=") == 1000


@pytest.mark.slow
def test_suite_page_shows_tasks_graphs_complexity_and_proofs(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context)
    assert 'href="/suites/smoke"' in browser.get("/suites").text
    text = browser.get("/suites/smoke").text
    assert text.count('<svg class="graph"') == 8
    assert "2 (easy)" in text
    assert '<span class="soft">unproven</span>' in text
    assert browser.get("/suites/nothing").status_code == 404


def rows_of(text: str) -> list[str]:
    """Return the tasks in the table of a suite's page."""
    return re.findall(r'<th scope="row"><a href="/suites/smoke/tasks/([\w-]+)">', text)


@pytest.mark.slow
def test_tasks_of_a_suite_are_searched_and_filtered(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context)
    every = [task.id for task in open_suite("smoke").tasks]
    editor = [
        task.id for task in open_suite("smoke").tasks if "Text Editor" in applications_of(task)
    ]
    assert 0 < len(editor) < len(every)
    assert rows_of(browser.get("/suites/smoke").text) == every
    for query, chosen in (
        ("platform=phone", ["phone-tick-off", "phone-new-contact"]),
        ("platform=phone&text=TICK-off", ["phone-tick-off"]),
        ("text=contact+number", ["phone-new-contact", "cross-contact-number"]),
        ("proof=full", []),
        ("proof=unproven", every),
        ("subset=none", []),
        ("application=Text+Editor", editor),
    ):
        text = browser.get(f"/suites/smoke?{query}").text
        assert rows_of(text) == chosen, query
        assert f"{len(chosen)} of {len(every)} tasks" in text
    assert "No task matches." in browser.get("/suites/smoke?tag=nothing").text
    assert browser.get(f"/suites/smoke?text={'x' * 201}").status_code == 422


@pytest.mark.slow
def test_each_task_has_a_page_with_its_graph_and_what_is_wrong_with_it(
    browser: TestClient, context: ApiContext
) -> None:
    suite = open_suite("smoke")
    task = suite.task("desktop-editor")
    images = {spec.key: "another" for spec in task.roles.values()}
    proof = TaskProof(
        task=task.id,
        level="full",
        faults=("noop ended with PASS",),
        attempts=7,
        images=images,
        proved_s=1.0,
        code="1.0",
    )
    key = task_key(specify_task(task, suite.vocabulary, SourceDigester()), "real")
    ProofStore(context.settings.runs_dir.parent / "proofs").conclude(key, proof)
    sign_in(browser, context)
    text = browser.get("/suites/smoke/tasks/desktop-editor").text
    assert text.count('<svg class="graph"') == 1
    assert "noop ended with PASS" in text
    assert "7 attempts" in text
    assert 'rel="prev">desktop-invoice' in text
    assert 'rel="next">phone-tick-off' in text
    assert "faulty" in browser.get("/suites/smoke").text
    assert browser.get("/suites/smoke/tasks/desktop-editr").status_code == 404


@pytest.mark.slow
def test_two_runs_are_compared(
    browser: TestClient, context: ApiContext, request_of_tiny: RunRequest
) -> None:
    first = carry_out(context, request_of_tiny.model_copy(update={"agent": "noop"}))
    second = carry_out(context, request_of_tiny)
    sign_in(browser, context)
    assert "Second" in browser.get("/compare").text
    text = browser.get(f"/compare?first={first}&second={second}").text
    assert "+1.000" in text
    assert re.search(r"agent\.kind</th><td>noop</td><td>oracle</td>", text)
    assert f"beside={second}/dark-style/0" in text
    charts = re.findall(r'<svg [^>]*aria-label="([^:"]+)', text)
    rates = {f"success rate by {grouping}" for grouping in ("task", "complexity")}
    assert {"rates", "trials by reason", *rates} <= set(charts)
    assert "dependency: easy" in text
    assert not re.search(r"<script>|\son\w+=|\sstyle=", text)
    saved = browser.get(f"/compare/export?first={first}&second={second}")
    assert saved.headers["content-disposition"].startswith("attachment;")
    assert "<svg" in saved.text
    assert browser.get(f"/compare?first={first}&second=nothing").status_code == 404


def test_builds_of_images_are_shown_and_a_failed_one_says_how_to_open_its_tree(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context, Role.READ)
    assert "No image was built" in browser.get("/images").text
    command = "docker run -it --rm mesocosm/failed:paint bash"
    path = log_path(context.settings.images_dir, "desktop-paint", "ab" * 32, 1_795_000_000.0)
    path.parent.mkdir(parents=True)
    path.write_text(
        f"== step 1/1\n<b>no</b>\nFAILED: The step 'run: no' failed.\nOpen: {command}\n"
    )
    text = browser.get("/images").text
    link = f"/images/{path.stem}#failure"
    assert f'href="{link}"' in text
    assert "The step &#39;run: no&#39; failed." in text
    text = browser.get(link).text
    assert f"<code>{command}</code>" in text
    assert "&lt;b&gt;no&lt;/b&gt;" in text
    assert browser.get("/images/nothing").status_code == 404


def test_doctor_page_shows_checks(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
    text = browser.get("/doctor").text
    assert "0 fail · 1 warn · 1 ok" in text
    assert "Another host." in text


@pytest.fixture
def machine_service(context: ApiContext) -> HostMachineService:
    return HostMachineService(context.settings)


@pytest.mark.libvirt
def test_host_without_machines_has_no_rows(machine_service: HostMachineService) -> None:
    assert machine_service.rows() == []
    for ask in (
        machine_service.picture,
        machine_service.rewind,
        machine_service.stop,
        machine_service.vnc,
        machine_service.take,
    ):
        with pytest.raises(UnknownNameError):
            ask("desktop-1")


@pytest.fixture
def machine(context: ApiContext) -> MachineFolder:
    folder = MachineFolder(context.settings.machines_dir / "desktop-1")
    folder.path.mkdir(parents=True)
    folder.write(desktop_record("desktop-1", state=MachineState.READY))
    return folder


def test_desktop_vm_has_vnc_and_others_report_that_they_have_none(
    machine_service: HostMachineService, machine: MachineFolder
) -> None:
    assert machine_service.vnc("desktop-1") == machine.path / "vnc.sock"
    machine.write(desktop_record("desktop-1", state=MachineState.STOPPED))
    with pytest.raises(MachineError, match="desktop-1 is stopped"):
        machine_service.vnc("desktop-1")
    machine.write(desktop_record("desktop-1", "remote", state=MachineState.READY))
    with pytest.raises(UnsupportedError, match="desktop-1 has no VNC server") as caught:
        machine_service.vnc("desktop-1")
    assert "desktop of the backend remote" in caught.value.details


def test_ready_or_kept_machine_is_taken_by_one_user(
    machine_service: HostMachineService, machine: MachineFolder
) -> None:
    hold = machine_service.take("desktop-1")
    assert hold is not None
    assert machine.is_claimed()
    assert machine_service.take("desktop-1") is None
    hold.release()
    assert not machine.is_claimed()
    taken = {}
    for state in MachineState:
        machine.write(desktop_record("desktop-1", state=state))
        hold = machine_service.take("desktop-1")
        taken[state] = hold is not None
        if hold:
            hold.release()
        assert not machine.is_claimed()
    assert {state for state, is_taken in taken.items() if is_taken} == {
        MachineState.READY,
        MachineState.KEPT,
    }


def test_only_scripts_of_the_live_screen_client_are_served(
    context: ApiContext, browser: TestClient, tmp_path: Path
) -> None:
    assert browser.get("/static/novnc/core/rfb.js").status_code == 404
    folder = tmp_path / "novnc"
    (folder / "core").mkdir(parents=True)
    (folder / "core/rfb.js").write_text("export default 1;\n")
    (folder / "manifest.json").write_text("{}")
    (tmp_path / "secret.js").write_text("secret")
    (folder / "core/link.js").symlink_to(tmp_path / "secret.js")
    object.__setattr__(context, "find_viewer", lambda: folder)
    reply = browser.get("/static/novnc/core/rfb.js")
    assert (reply.status_code, reply.text) == (200, "export default 1;\n")
    assert reply.headers["content-type"].startswith("text/javascript")
    assert "max-age" in reply.headers["cache-control"]
    for name in ("manifest.json", "core", "core/link.js", "%2e%2e/secret.js", "core/none.js"):
        assert browser.get(f"/static/novnc/{name}").status_code == 404, name


@pytest.mark.slow
def test_machine_is_live_if_vnc_and_the_client_are_available(
    context: ApiContext, browser: TestClient, tmp_path: Path
) -> None:
    sign_in(browser, context)
    assert isinstance(context.machine_service, FakeMachineService)
    assert "desktop-0000 has no VNC server" in browser.get("/fleet/desktop-0000").text
    context.machine_service.vnc_socket = tmp_path / "vnc.sock"
    still = browser.get("/fleet/desktop-0000").text
    assert "noVNC is not available" in still
    assert "live-screen.js" not in still
    object.__setattr__(context, "find_viewer", lambda: tmp_path)
    live = browser.get("/fleet/desktop-0000").text
    assert 'data-live="/fleet/desktop-0000/live"' in live
    assert "data-control" in live
    gone = browser.get("/fleet/desktop-0000/live")
    assert (gone.status_code, "cannot be reached" in gone.text) == (503, True)
    browser.post("/logout")
    sign_in(browser, context, Role.READ)
    assert "data-control" not in browser.get("/fleet/desktop-0000").text
    assert browser.get("/fleet/none").status_code == 404
