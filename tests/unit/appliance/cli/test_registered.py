"""Registered suites and agents, named by commands, queue and API."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from appliance.cli.main import main
from appliance.cli.service_database import open_database
from controller.agents.custom import container
from controller.registered.agents import agent_copies
from controller.service.api.app import make_app
from controller.service.state.tokens import Role
from controller.service.web.app import make_app_with_pages
from foundation.settings import REPOSITORY, get_settings
from tests.unit.controller.service.context import HOST, make_api_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

AGENTS = REPOSITORY / "examples/agents"
FAKE = ["--agent", "oracle", "--fleet", "fake"]


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.chdir(tmp_path)
    get_settings.cache_clear()
    yield tmp_path / "state"
    get_settings.cache_clear()


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Return the JSON output of a command."""

    def call(*args: str) -> Any:  # noqa: ANN401 - any JSON
        assert main([*args, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def mine(tiny: Path, tmp_path: Path) -> Path:
    """Return a folder with a user's suite."""
    folder = tmp_path / "mine"
    shutil.copytree(tiny, folder)
    return folder


@pytest.mark.slow
def test_registered_suite_is_named_like_a_built_in_one(
    ask: Callable[..., Any], mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = ask("suite", "add", str(mine))
    assert ask("suite", "add", str(mine / "suite.yaml"))["digest"] == added["digest"]
    rows = {row["name"]: row for row in ask("suite", "list")["suites"]}
    assert (rows["tiny"]["digest"], rows["tiny"]["shipped"]) == (added["digest"], False)
    assert rows["smoke"]["shipped"] is True
    assert ask("run", "tiny", *FAKE, "--task", "write-file")["verdicts"]["PASS"] == 1

    pinned = f"tiny@{added['digest'][:12]}"
    queued = ask("queue", "add", "tiny", *FAKE)
    assert queued["request"]["suite"] == pinned
    task = mine / "write-file.yaml"
    task.write_text(task.read_text().replace("Write the word", "Please write the word"))
    again = ask("suite", "add", str(mine))
    assert again["digest"] != added["digest"]
    texts = [ask("suite", "show", name)["tasks"][1]["instruction"] for name in ("tiny", pinned)]
    assert texts[0] == f"Please w{texts[1][1:]}"

    line = ["--cron", "0 2 * * *"]
    ask("schedule", "add", "nightly", "tiny", *FAKE, *line)
    assert main(["suite", "remove", "tiny"]) == 2
    refused = capsys.readouterr().err
    assert queued["run"] in refused
    assert "schedule nightly" in refused
    ask("queue", "cancel", queued["run"])
    ask("schedule", "remove", "nightly")
    references = {pinned, f"tiny@{again['digest'][:12]}"}
    assert set(ask("suite", "remove", "tiny")["removed"]) == references
    assert main(["suite", "show", "tiny"]) == 2
    assert "no suite called 'tiny'" in capsys.readouterr().err


def test_api_accepts_registered_suites(ask: Callable[..., Any], mine: Path) -> None:
    digest = ask("suite", "add", str(mine))["digest"]
    context = make_api_context(open_database(), get_settings().state_dir)
    headers = {"Authorization": f"Bearer {context.tokens.add('x', Role.OPERATE)}"}
    client = TestClient(make_app(context, {HOST}), f"http://{HOST}", headers=headers)
    assert "tiny" in client.get("/api/v1/suites").json()["suites"]
    assert client.get("/api/v1/suites/tiny").json()["digest"] == digest
    body = {"request": {"suite": "tiny", "agent": "noop", "fleet": "fake"}}
    queued = client.post("/api/v1/queue", json=body).json()
    assert queued["request"]["suite"] == f"tiny@{digest[:12]}"


@pytest.mark.slow
def test_failed_registration_leaves_nothing_behind(
    mine: Path, tiny: Path, state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(*args: str) -> str:
        assert main([*args]) == 2
        return capsys.readouterr().err

    assert "it has no suite.yaml" in refusal("suite", "add", str(mine.parent))
    task = mine / "write-file.yaml"
    task.write_text(task.read_text().replace("file_text_equals", "file_text_equal"))
    assert f"{task}" in refusal("suite", "add", str(mine))
    shutil.copyfile(tiny / "write-file.yaml", task)
    (mine / "link").symlink_to("/etc/passwd")
    assert "neither a file nor a folder" in refusal("suite", "add", str(mine))
    (mine / "link").unlink()
    index = mine / "suite.yaml"
    index.write_text(index.read_text().replace("name: tiny", "name: smoke"))
    assert "the name of a built-in suite" in refusal("suite", "add", str(mine))
    assert "no registered suite" in refusal("suite", "remove", "tiny")
    assert [path.name for path in (state_dir / "registered/suites").iterdir()] == [".lock"]


@pytest.mark.slow
def test_agents_are_registered_and_checked(
    ask: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    added = ask("agent", "add", str(AGENTS))
    assert ask("agent", "add", str(AGENTS))["digest"] == added["digest"]
    (row,) = ask("agent", "list")["registered"]
    assert (row["name"], row["description"]) == ("typist", added["description"])
    assert main(["agent", "list"]) == 0
    assert f"typist@{added['digest'][:12]}" in capsys.readouterr().out
    folder = tmp_path / "agent"
    folder.mkdir()
    for text, message in (
        ("name: oracle\ncommand: [x]\n", "the name of a built-in agent"),
        ("name: x\ncommand: []\n", "command"),
        ("name: x\ncommand: [x]\nprivileged: true\n", "privileged"),
        ("name: x\ncommand: [x]\nenvironment: {'A B': c}\n", "not a valid variable name"),
        ("name: x\ncommand: [x]\nimage: --privileged\n", "image"),
    ):
        (folder / "agent.yaml").write_text(text)
        assert main(["agent", "add", str(folder)]) == 2
        assert message in capsys.readouterr().err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(container, "find_tool", lambda _: None)
        patch.setattr(container, "own_image", lambda _: "mesocosm/controller")
        assert main(["queue", "add", "smoke", "--agent", "typist", "--fleet", "fake"]) == 3
    assert "Docker, which is not installed" in capsys.readouterr().err
    assert ask("agent", "remove", "typist")["removed"] == [f"typist@{added['digest'][:12]}"]
    assert agent_copies(get_settings()).names() == []


@pytest.fixture
def offers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Return the completions after some arguments, as bash requests them."""

    def call(*args: str) -> list[str]:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setenv("COMP_WORDS", " ".join(("mesocosm", *args, "")))
            patch.setenv("COMP_CWORD", str(len(args) + 1))
            patch.setenv("_MESOCOSM_COMPLETE", "complete_bash")
            main([])
        return capsys.readouterr().out.split()

    return call


@pytest.mark.slow
def test_names_of_registered_suites_and_agents_are_completed(
    ask: Callable[..., Any], mine: Path, offers: Callable[..., list[str]]
) -> None:
    assert offers("suite", "remove") == []
    ask("suite", "add", str(mine))
    agent = ask("agent", "add", str(AGENTS))["name"]
    for command in (["run"], ["queue", "add"], ["suite", "show"], ["suite", "validate"]):
        assert {"smoke", "tiny"} <= set(offers(*command)), command
    assert offers("suite", "remove") == ["tiny"]
    assert {"oracle", agent} <= set(offers("run", "smoke", "--agent"))
    assert offers("agent", "remove") == [agent]


@pytest.mark.slow
def test_pages_offer_registered_names_and_queue_their_current_version(
    ask: Callable[..., Any], mine: Path, state_dir: Path
) -> None:
    digest = ask("suite", "add", str(mine))["digest"]
    agent = ask("agent", "add", str(AGENTS))["name"]
    database = open_database()
    context = make_api_context(database, state_dir)
    app = make_app_with_pages(context, {HOST})
    browser = TestClient(app, base_url=f"http://{HOST}", headers={"Origin": f"http://{HOST}"})
    browser.post("/login", data={"token": context.tokens.add("me", Role.OPERATE)})
    for path in ("/runs", "/schedules"):
        form = browser.get(path).text
        assert "<option>tiny</option>" in form, path
        assert f'<option value="{agent}">' in form, path
    values = {"suite": "tiny", "agent": "oracle", "fleet": "fake"}
    queued = browser.post("/runs", data=values).url.path.rpartition("/")[2]
    assert context.queue.get(queued).request.suite == f"tiny@{digest[:12]}"
    assert digest in browser.get("/suites").text
    assert "write-file" in browser.get("/suites/tiny").text
    assert 'value="tiny/write-file"' in browser.get("/human").text

    (content,) = state_dir.glob("registered/suites/*/*/content/suite.yaml")
    content.write_text("name: [")
    page = browser.get("/suites")
    assert page.status_code == 200
    assert '<td>tiny</td><td colspan="3"><span class="FAIL">' in page.text
    assert 'value="tiny/' not in browser.get("/human").text
    database.close()
