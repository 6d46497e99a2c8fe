"""The stand-in server as a command, and runs of vendors' models against it."""

from __future__ import annotations

import json
import re
import signal
import sys
from typing import TYPE_CHECKING

import httpx2
import pytest

from foundation.process import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import Popen  # noqa: TID251 - as a type

SCRIPT = """\
members:
  m:
    must_not_see: [forbidden]
    rules: [{reply: {text: hello}}]
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Popen[bytes], str]]:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    argv = [
        sys.executable,
        "-m",
        "appliance.cli.main",
        "serve-model",
        str(tmp_path / "script.yaml"),
    ]
    process = start([*argv, "--log", str(tmp_path / "log.jsonl")], merge=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline().decode()
        found = re.search(r"http://127.0.0.1:\d+", line)
        assert found, line
        yield process, found[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "code"), [("fine", 0), ("forbidden", 1)])
def test_command_serves_until_interrupted_and_fails_on_forbidden_content(
    tmp_path: Path, server: tuple[Popen[bytes], str], text: str, code: int
) -> None:
    process, address = server
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    response = httpx2.post(f"{address}/v1/chat/completions", json=body)
    assert response.status_code == (400 if code else 200)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == code, output
    (record,) = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert (record["model"], record["text"]) == ("m", text)
    assert (b"must not see" in output) is bool(code)
