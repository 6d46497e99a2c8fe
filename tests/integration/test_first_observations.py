"""The first observation of a trial shows the document that its setup opened, on a busy host too."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from controller.store.runs import Store
from evaluators.recognition.ocr import RapidOcr
from foundation import process
from foundation.settings import REPOSITORY, get_settings
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.opened_documents import DOCUMENTS, write_suite
from tests.tiers import IS_NIGHTLY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evaluators.recognition.ocr import TextEngine

_HOURS_S = 2 * 3600
_SHORT = ("writer-docx",)

pytestmark = [
    pytest.mark.docker,
    pytest.mark.vm,
    pytest.mark.timeout(_HOURS_S),
    NEEDS_APPLIANCE,
]


@pytest.fixture
def burning_processes() -> Iterator[None]:
    """Keep both processors of the host busy."""
    burners = [process.start([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for burner in burners:
            process.kill_group(burner)
            for pipe in (burner.stdout, burner.stderr):
                if pipe is not None:
                    pipe.close()


@pytest.mark.usefixtures("burning_processes")
def test_first_observation_shows_the_document(tmp_path: Path) -> None:
    tasks = tuple(DOCUMENTS) if IS_NIGHTLY else _SHORT
    repeats = 3 if IS_NIGHTLY else 1
    suite = write_suite(tmp_path / "opened", tasks)
    args = ["run", str(suite), "--agent", "noop", "--repeats", str(repeats), "--json"]
    command = [sys.executable, "-m", "appliance.cli.main", *args]
    done = process.run(command, timeout_s=_HOURS_S, cwd=REPOSITORY)
    assert done.exit_code == 0, done.text[-4000:]
    folder = Store(get_settings().runs_dir).open(json.loads(done.stdout)["run"])
    engine = RapidOcr()
    unseen = [
        f"{task} {repeat}: {seen}"
        for task in tasks
        for repeat in range(repeats)
        if DOCUMENTS[task][1] not in (seen := _first_texts(folder.path, task, repeat, engine))
    ]
    assert unseen == []


def _first_texts(run: Path, task: str, repeat: int, engine: TextEngine) -> str:
    """Return all text of a trial's first observation."""
    folder = Store(run.parent).open(run.name)
    first = next(row for row in folder.events(task, repeat) if row["type"] == "observation")
    (screen,) = first["screens"].values()
    with Image.open(run / "blobs" / f"{screen}.png") as picture:
        lines = engine.read(np.asarray(picture.convert("RGB")))
    return " ".join(line.text for line in lines)
