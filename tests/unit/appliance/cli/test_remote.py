"""Commands against a remote service over TLS print what they print on its own host."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli import status
from appliance.cli.main import main
from appliance.cli.service_database import open_database
from controller.service.api.app import make_app
from controller.service.api.server import Certificate, Server, listen, require_protected
from controller.service.state.tokens import Role
from foundation.errors import UsageError
from foundation.settings import get_settings
from tests.standins.certificate import make_certificate
from tests.unit.controller.service.context import STATUS, make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUEST = ["smoke", "--agent", "noop", "--fleet", "fake"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificate: Certificate
) -> Iterator[str]:
    """Serve the state of this test over TLS; return the address."""
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    monkeypatch.setenv("COLUMNS", "250")
    get_settings.cache_clear()
    context = make_api_context(open_database(), get_settings().state_dir)
    monkeypatch.setenv("MESOCOSM_TOKEN", context.tokens.add("elsewhere", Role.OPERATE))
    listener = listen("127.0.0.1", 0)
    name = f"127.0.0.1:{listener.getsockname()[1]}"
    part = Server(make_app(context, {name}), listener, certificate)
    thread = threading.Thread(target=part, args=(context.stop,))
    thread.start()
    yield f"https://{name}"
    context.stop.set()
    thread.join()
    context.database.close()
    get_settings.cache_clear()


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - a function
    """Return a function that runs a command and returns exit code and output."""

    def call(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(args))
        shown = capsys.readouterr()
        return code, shown.out + (shown.err if code else "")

    return call


@pytest.mark.slow
def test_queue_and_schedules_are_the_same_remotely(server: str, output: Any) -> None:  # noqa: ANN401
    there = ["--server", server]
    code, text = output(*there, "queue", "add", *REQUEST, "--priority", "3", "--json")
    assert code == 0, text
    queued = json.loads(text)
    assert (queued["origin"], queued["request"]["agent"]) == ("api", "noop")
    name = ["schedule", "add", "nightly", *REQUEST, "--cron", "0 2 * * *", "--json"]
    code, text = output(*name, *there)
    assert code == 0, text
    assert output(*name) == (0, text)
    assert output("schedule", "run-now", "nightly", f"--server={server}")[0] == 0
    run_id = queued["run"]
    for args in (
        ["queue", "list"],
        ["queue", "list", "--state", "queued", "--limit", "1", "--json"],
        ["queue", "show", run_id],
        ["queue", "show", run_id, "--json"],
        ["schedule", "list"],
        ["schedule", "list", "--json"],
        ["schedule", "history", "nightly"],
        ["schedule", "history", "nightly", "--json"],
        ["queue", "show", "nothing"],
    ):
        assert output(*args, *there) == output(*args), args
    raised = output(*there, "queue", "priority", run_id, "7", "--json")[1]
    assert json.loads(raised)["priority"] == 7
    for done, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        code, text = output(*there, "queue", done, run_id, "--json")
        assert (code, json.loads(text)["state"]) == (0, state)
        assert output("queue", "show", run_id, "--json") == (0, text)
    for done in ("pause", "resume"):
        assert json.loads(output(*there, "schedule", done, "nightly", "--json")[1])[
            "is_paused"
        ] is (done == "pause")
    assert output(*there, "schedule", "remove", "nightly")[0] == 0
    assert json.loads(output("schedule", "list", "--json")[1]) == {"schedules": []}


@pytest.mark.slow
def test_results_and_status_are_the_same_remotely(
    server: str,
    output: Any,  # noqa: ANN401
    tiny: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = ["--server", server]
    asked = ["run", str(tiny), "--agent", "oracle", "--fleet", "fake", "--task", "write-file"]
    assert output(*asked)[0] == 0
    for args in (
        ["results"],
        ["results", "--json"],
        ["results", "latest"],
        ["results", "latest", "--json", "--metrics", "rates", "--compare", "latest"],
        ["results", "nothing"],
    ):
        assert output(*args, *there) == output(*args), args
    code, text = output(*there, "status", "--json")
    assert (code, json.loads(text)) == (0, json.loads(json.dumps(STATUS.to_dict())))
    status._print(STATUS)
    shown = capsys.readouterr().out
    assert output(*there, "status") == (0, shown)
    assert output(*there, "status", "-q")[0] == 1


@pytest.mark.slow
def test_local_only_commands_are_rejected_remotely(
    server: str,
    output: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    assert "only works on this host" in output("--server", server, "results", "prune")[1]
    assert "only works on this host" in output("--server", server, "up")[1]
    assert "needs the address" in output("queue", "list", "--server")[1]
    assert "is not a valid service address" in output("--server", "host:1", "queue", "list")[1]
    code, text = output("--server", server, "queue", "add", str(tmp_path), "--agent", "noop")
    assert (code, "mesocosm queue add" in text) == (2, True)
    code, text = output("--server", server.replace("https", "http"), "queue", "list")
    assert (code, "does not answer" in text) == (1, True)
    monkeypatch.delenv("SSL_CERT_FILE")
    assert "SSL_CERT_FILE" in output("--server", server, "queue", "list")[1]
    monkeypatch.setenv("MESOCOSM_TOKEN", "a-wrong-token-of-some-length")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    assert output("--server", server, "queue", "list")[0] == 1
    monkeypatch.delenv("MESOCOSM_TOKEN")
    assert "requires a token" in output("--server", server, "queue", "list")[1]


def test_network_address_requires_tls(certificate: Certificate, output: Any) -> None:  # noqa: ANN401
    serving = ["service", "run", "--host", "0.0.0.0"]  # noqa: S104
    code, text = output(*serving)
    assert (code, "--tls-cert and --tls-key" in text) == (2, True)
    assert "must be used together" in output(*serving, "--tls-cert", str(certificate.path))[1]
    with pytest.raises(UsageError, match="not a certificate and its key"):
        Certificate(certificate.path, certificate.path)
    for host in ("127.0.0.1", "::1", "localhost"):
        require_protected(host, has_tls=False, is_insecure=False)
    require_protected("0.0.0.0", has_tls=False, is_insecure=True)  # noqa: S104
    require_protected("192.0.2.1", has_tls=True, is_insecure=False)
