"""``mesocosm model check``, and runs of families, as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.main import main
from controller.model_server.server import serving
from tests.unit.controller.models.vendors import script

TINY = str(Path(__file__).resolve().parents[3] / "suites/tiny")
CLICK = (
    '<tool_call>{"name": "computer_use", "arguments": '
    '{"action": "left_click", "coordinate": [${x}, ${y}]}}</tool_call>'
)
SCROLL = (
    '<tool_call>{"name": "computer_use", "arguments": '
    '{"action": "scroll", "pixels": PIXELS, "coordinate": [500, 500]}}</tool_call>'
)


def rules(shift_px: float = 0, pixels: int = -5) -> list[dict[str, Any]]:
    point = {"colour": [220, 20, 20], "unit": "grid", "shift_px": shift_px}
    scroll = SCROLL.replace("PIXELS", str(pixels))
    return [
        {"when": {"text": "Scroll down"}, "reply": {"text": scroll}},
        {"reply": {"text": CLICK, "point": point}},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift_px", "pixels", "code", "wrong"),
    [
        (0, -5, 0, []),
        (60, -5, 3, ["places 1280x800", "places 1080x2400"]),
        (0, 5, 3, ["scroll"]),
    ],
)
def test_check_refuses_a_model_that_sees_badly_or_scrolls_the_wrong_way(
    capsys: pytest.CaptureFixture[str], shift_px: float, pixels: int, code: int, wrong: list[str]
) -> None:
    with serving(script(*rules(shift_px, pixels))) as server:
        address = f"{server.address}/v1"
        argv = [
            "model",
            "check",
            "--model",
            "m",
            "--base-url",
            address,
            "--model-family",
            "qwen3-vl",
        ]
        assert main([*argv, "--json"]) == code
        output = capsys.readouterr()
        shown = json.loads(output.out)
        assert [row["check"] for row in shown["checks"] if row["ok"] is False] == wrong
        assert [row["check"] for row in shown["checks"] if row["ok"] is None] == ["modifier click"]
        assert shown["usage"]["usd"] is None
        assert [row["check"] for row in shown["checks"]] == [
            *("format", "places 1280x800", "places 1080x2400", "scroll", "modifier click")
        ]
        assert shown["usage"]["prompt"] > 0
        assert len(server.responder.records) == 21
        assert main([*argv, "--quick"]) == 0
        assert "format: ok" in capsys.readouterr().err


@pytest.mark.slow
def test_what_a_model_does_not_do_is_not_shown_as_passed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_MODEL_USD_PER_MTOK_PROMPT", "1")
    waits = SCROLL.replace('"scroll", "pixels": PIXELS', '"wait", "time": 1')
    scripted = script({"when": {"text": "Scroll down"}, "reply": {"text": waits}}, rules()[1])
    with serving(scripted) as server:
        argv = ["--model", "m", "--base-url", f"{server.address}/v1", "--model-family", "qwen3-vl"]
        assert main(["model", "check", *argv]) == 0
        shown = capsys.readouterr().err
        assert "scroll: not done, did not scroll" in shown
        assert "modifier click: not done, without the key" in shown
        assert main(["model", "check", *argv, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["ok"] for row in report["checks"]] == [True, True, True, None, None]
    assert report["usage"]["usd"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "path", "told"),
    [
        ({"reply": {"text": "In the middle."}}, "/v1", ["It replied: In the middle.", "--model-family"]),
        (
            {"reply": {"calls": [{"name": "tap", "with": {}}]}},
            "/v1",
            ["no tool called 'tap'", "Offered tools: desktop__click, desktop__scroll."],
        ),
        ({"status": 401, "message": "wrong key"}, "/v1", ["HTTP 401", "wrong key", "its key."]),
        ({"reply": {"text": "unused"}}, "", ["HTTP 404", "usually end with /v1"]),
    ],
)  # fmt: skip
def test_check_tells_once_why_a_model_does_not_answer_and_what_helps(
    capsys: pytest.CaptureFixture[str], rule: dict[str, Any], path: str, told: list[str]
) -> None:
    with serving(script(rule)) as server:
        argv = ["model", "check", "--model", "m", "--base-url", server.address + path]
        assert main([*argv, "--quick"]) == 3
    shown = capsys.readouterr().err
    for text in told:
        assert text in shown
    assert shown.count("error: ") == 1
    assert "format: " not in shown
    assert "no price is known" in shown


@pytest.mark.slow
def test_run_names_adapter_and_family(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        {"name": "mouse_move", "with": {"coordinate": [5, 5]}},
        {"name": "session__complete", "with": {}},
    ]
    point = {"colour": [220, 20, 20]}
    seen = {"calls": [{"name": "left_click", "with": {"coordinate": ["${x}", "${y}"]}}]}
    made = script(
        {"when": {"text": "red square"}, "reply": {**seen, "point": point}},
        {"reply": {"calls": steps}},
    )
    with serving(made) as server:
        argv = ["run", TINY, "--agent", "model", "--fleet", "fake", "--task", "write-file"]
        options = ["--model", "claude-opus-5-5", "--model-adapter", "anthropic"]
        monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", server.address)
        assert main([*argv, *options, "--model-family", "auto", "--json"]) == 3
        assert "no model" in capsys.readouterr().err
        options[1] = "m"
        family = "anthropic-toolset-20260801"
        assert main([*argv, *options, "--model-family", family, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        (member,) = report["spec"]["agents"]
        assert (member["agent"]["adapter"], member["agent"]["family"]) == ("anthropic", family)
        assert report["verdicts"]["FAIL"] == 1
        assert server.responder.violations == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model-family", "gta1"], "they choose no actions"),
        (["--model-family", "google-computer"], "does not carry"),
        (["--model-family", "qwen3"], "qwen3-vl"),
        (["--model-adapter", "anthropc"], "anthropic"),
    ],
)
def test_wrong_choices_are_refused_before_a_run(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    argv = ["run", TINY, "--agent", "model", "--fleet", "fake", "--task", "write-file"]
    assert main([*argv, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
