"""A hostile model plays through the service: nothing of its replies reaches a host's shell or ends the run."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from appliance.cli.main import main
from controller.model_server.script import parse_script
from controller.model_server.server import serving
from foundation.clock import wait_until
from foundation.process import run
from foundation.settings import get_settings
from tests.integration.test_two_containers import ask, container_of
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.vm,
    pytest.mark.phone,
    pytest.mark.docker,
    pytest.mark.timeout(900),
    NEEDS_APPLIANCE,
]

TASK = "cross-dark-style"
DARK = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark\n"
LONG_S = 600.0
BIG = 1_000_000


def payloads(canary: str) -> list[str]:
    """Return texts that would make the file if a shell read them, and others that break parsers."""
    touch = f"touch {canary}"
    return [
        f";{touch}",
        f"$({touch})",
        f"`{touch}`",
        f"a\n{touch}\n",
        f"'; {touch}; '",
        f'"; {touch}; "',
        f"|| {touch}",
        f"\x00\x01\x1b[2J\x7f{touch}",
        f"-x --exec={touch}",
        f"../../../{canary}",
        f"\ud800{touch}",
        f"{canary} " + "x" * BIG,
    ]


def call(name: str, args: dict[str, Any] | str) -> dict[str, Any]:
    return {"calls": [{"name": name, "with": args}]}


def refused_replies(canary: str) -> list[dict[str, Any]]:
    """Return replies of which nothing can be carried out."""
    texts = payloads(canary)
    nested: Any = {"a": [{"b": {"c": [texts[0], [[]]]}}]}
    deep = '{"a":[' * 400 + "1" + "]}" * 400
    rows = [call(text[:5000], {"x": 1}) for text in texts]
    rows += [call(f"desktop__{text[:200]}", {}) for text in texts[:4]]
    rows += [call(f"{text[:200]}__click", {"x": 1, "y": 1}) for text in texts[:4]]
    rows += [call("desktop__open_app", {"name": text}) for text in texts]
    rows += [call("phone__open_app", {"name": text}) for text in texts]
    rows += [call("phone__key", {"name": text}) for text in texts[:6]]
    rows += [call("desktop__key", {"keys": [text]}) for text in texts[:6]]
    rows += [call("desktop__run_shell", {"command": texts[0]})]  # the run offers no code
    wrong: list[Any] = [texts[0], True, None, -1, 10**30, [1], {"x": 1}, nested]
    rows += [call("phone__tap", {"x": value, "y": value}) for value in wrong]
    rows += [call("desktop__type_text", {"text": value}) for value in (*wrong[1:], texts[-1])]
    # Arguments that are not JSON, and JSON in JSON in JSON.
    rows += [call("phone__tap", f'{{"x": {deep}, "y": 1}}')]
    rows += [
        call("phone__type_text", text) for text in (*texts[:4], deep, "[" * 100_000, '{"a":' * 9000)
    ]
    twice = json.dumps(json.dumps({"name": texts[0]}))
    rows += [call("desktop__open_app", twice), call("phone__open_app", json.dumps(twice))]
    rows += [{"text": text} for text in texts]
    return rows


def accepted_replies(canary: str) -> list[dict[str, Any]]:
    """Return replies that are carried out: hostile texts, typed on the machines, and plain moves."""
    texts = [text for text in payloads(canary) if len(text) < 1000 and "\ud800" not in text]
    rows = [call("phone__type_text", {"text": text}) for text in texts if text.isprintable()]
    rows += [call("desktop__type_text", {"text": text}) for text in texts if text.isprintable()]
    rows += [call("session__submit", {"answer": text}) for text in texts]
    return rows


def rules(canary: str) -> Iterator[dict[str, Any]]:
    """Yield two replies that are refused, then one that is accepted; at the end work that counts."""
    moves = (call("desktop__move", {"x": 10 + step % 500, "y": 5}) for step in itertools.count())
    accepted = itertools.chain(accepted_replies(canary), moves)
    refused = refused_replies(canary)
    for index in range(0, len(refused), 2):
        yield from ({"times": 1, "reply": reply} for reply in refused[index : index + 2])
        yield {"times": 1, "reply": next(accepted)}
    yield {"times": 1, "raw": f'{{"choices": [{{"message": ;touch {canary}'}
    yield {"times": 1, "status": 500, "message": f"$(touch {canary})"}
    yield {"times": 1, "reply": call("phone__open_app", {"name": "Tasks"})}
    yield {"times": 1, "reply": call("desktop__open_app", {"name": "Terminal"})}
    yield {"times": 1, "reply": call("desktop__type_text", {"text": DARK})}
    yield {"reply": call("session__complete", {})}


class CommandLines:
    """Watches the command lines of this host's processes, apart from those of guests.

    Args:
        text: what none may contain.

    Attributes:
        found: command lines that do.
    """

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._namespace = Path("/proc/self/ns/pid").readlink()
        self.found: set[str] = set()
        self.rounds = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.rounds += 1
            for folder in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    line = (folder / "cmdline").read_bytes()
                    # Machines in containers have a namespace of their own.
                    if self._text in line and (folder / "ns/pid").readlink() == self._namespace:
                        self.found.add(line[:300].decode(errors="replace"))


def queue(base_url: str) -> str:
    """Queue a run of the hostile model, and return its id."""
    out = io.StringIO()
    options = ["--task", TASK, "--agent", "model", "--model", "hostile", "--base-url", base_url]
    limits = ["--max-steps", "500", "--time-limit", "900"]
    with contextlib.redirect_stdout(out):
        assert main(["queue", "add", "smoke", *options, *limits, "--no-preflight", "--json"]) == 0
    return str(json.loads(out.getvalue())["run"])


def test_hostile_model_neither_reaches_a_shell_nor_ends_the_run() -> None:
    settings = get_settings()
    token = uuid.uuid4().hex
    canary = Path(f"/tmp/hostile-{token}")
    script = parse_script({"members": {"hostile": {"rules": list(rules(str(canary)))}}})
    with serving(script) as server, CommandLines(token) as lines:
        name = queue(f"{server.address}/v1")
        path = f"/api/v1/queue/{name}"
        is_over = wait_until(
            lambda: ask(settings, "GET", path)[1]["state"] not in {"queued", "running"},
            timeout_s=LONG_S,
        )
        assert is_over, ask(settings, "GET", path)[1]
    assert ask(settings, "GET", path)[1]["state"] == "finished"
    assert server.responder.violations == []
    (trial,) = ask(settings, "GET", f"/api/v1/runs/{name}")[1]["trials"]
    assert (trial["verdict"], trial["reason"]) == ("FAIL", "false_completion"), trial
    (share,) = trial["members"].values()
    assert set(share["met"]) == {"tasks-opened", "desktop-dark"}
    refused = sum(share["refused"].values())
    assert refused == len(refused_replies("x")), share["refused"]
    assert lines.rounds > 20
    assert lines.found == set()
    assert not canary.exists()
    for service in ("worker", "controller"):
        inside = run(["docker", "exec", container_of(settings, service), "ls", "/tmp"])
        assert token not in inside.require().text
