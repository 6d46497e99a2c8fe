"""Unknown names and cron lines that never fire: each is reported, and nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from appliance.cli.service_database import open_database
from foundation.settings import get_settings
from tests.unit.controller.service.context import make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.service.api.context import ApiContext

TINY = str(Path(__file__).resolve().parents[3] / "suites/tiny")
FAKE = ("--agent", "noop", "--fleet", "fake")
NEVER = ("--cron", "0 0 30 2 *")
CASES = (
    (("queue", "add", "smoek", *FAKE), "Did you mean 'smoke'?"),
    (("queue", "add", TINY, "--agent", "orcale"), "Did you mean 'oracle'?"),
    (("queue", "add", TINY, "--agent", "nobody.py:Agent"), "nobody.py"),
    (("schedule", "add", "s", "smoek", *FAKE, "--every", "1d"), "Did you mean 'smoke'?"),
    (("schedule", "add", "s", TINY, *FAKE, *NEVER), "never fires"),
    (("schedule", "add", "s", TINY, *FAKE, "--cron", "61 * * * *"), "61"),
    (("schedule", "add", "s", TINY, *FAKE, "--cron", "daily-at-two"), "cron"),
    *(
        (("queue", act, "20200101-000000-0000"), "no queued run called")
        for act in ("show", "pause", "resume", "cancel")
    ),
    *(
        (("schedule", act, "nightyl"), "Did you mean 'nightly'?")
        for act in ("pause", "resume", "run-now", "remove", "history")
    ),
    *(
        ((*act, "20200101-000000-0000"), "no run called")
        for act in (("results",), ("resume",), ("results", "export"), ("regrade",))
    ),
    (("compare", "20200101-000000-0000", "latest"), "no run called"),
    (("results", "--metrics", "sr"), "--metrics and --compare need a run"),
    (
        ("results", "export", "latest", "--format", "csv", "--rows", "events"),
        "cannot be exported as CSV",
    ),
    (("queue", "add", TINY, "--agent", "model", "--model-extra", "{"), "is not JSON"),
    (("queue", "add", TINY, "--agent", "model", "--model-extra", "[]"), "is not a JSON object"),
    (("schedule", "add", "s", TINY, *FAKE, "--every", "soon"), "'soon' is not an interval"),
    (("schedule", "add", "s", TINY, *FAKE), "either --cron or --every"),
    (
        ("schedule", "add", "s", TINY, *FAKE, "--every", "1d", "--on", "failed"),
        "--on needs a recipient",
    ),
    (("compare", "latest", "latest", "--output", "x"), "A table cannot be written to a file"),
    (("evaluators", "try", "answer_equals", "expected"), "'expected' is not ARGUMENT=VALUE"),
    (("evaluators", "try", "file_exists", "path=/x"), "file_exists is for desktop"),
    (("trial", "open", "20200101-000000-0000", "write-file"), "no run called"),
    (("bench", "schedule", "-n", "1005", "--machines", "10"), "Use multiples of 10"),
    (("bench", "schedule", "-n", "1000", "--machines", "2000"), "no more machines than trials"),
    (("bench", "ocr", "--picture", TINY), "--picture and --expected must be used together"),
    (("machine", "verify"), "Specify either a machine, or a phone with --phone SERIAL"),
    (
        ("machine", "verify", "phone", "--phone", "emulator-5554"),
        "Specify either a machine, or a phone",
    ),
)


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiContext]:
    """Return the state of an appliance with one queued run and one schedule."""
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "250")
    get_settings.cache_clear()
    assert main(["queue", "add", TINY, *FAKE]) == 0
    assert main(["schedule", "add", "nightly", TINY, *FAKE, "--every", "1d"]) == 0
    database = open_database()
    yield make_api_context(database, tmp_path)
    database.close()
    get_settings.cache_clear()


def state(context: ApiContext) -> tuple[object, ...]:
    return (context.queue.entries(), context.register.entries(), context.store.names())


@pytest.mark.slow
def test_unknown_names_are_rejected_and_change_nothing(
    context: ApiContext, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(context)
    capsys.readouterr()
    for argv, message in CASES:
        code = main(list(argv))
        out, err = capsys.readouterr()
        assert (code, out) == (2, ""), argv
        assert message in err, argv
        assert "Traceback" not in err
    assert state(context) == before
