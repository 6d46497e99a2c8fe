"""Loading of optional engines: every failure has a resolution."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from typing import TYPE_CHECKING

import pytest

from appliance.bench import ocr as bench
from appliance.bench.ocr import Finding, Reading, bench_matchers, bench_ocr, matcher_table, table
from appliance.bench.page import markdown
from evaluators.recognition.extras import need
from evaluators.recognition.features import XFeat, locate
from evaluators.recognition.ocr import EasyOcr, holds
from foundation.errors import RequirementError
from tests.evaluator_cases.file_builders import noise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HAS_TORCH = importlib.util.find_spec("torch") is not None
WEIGHTS = {key: value for key, value in os.environ.items() if key.startswith("MESOCOSM_VISION_")}
"""Where the engines' own weights are, see docs/recognition.md; fixtures clear the environment."""
FILES = {"craft_mlt_25k.pth": "detector", "english_g2.pth": "reader"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def easyocr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of files that are not weights, and configure them as weights."""
    monkeypatch.setenv("MESOCOSM_VISION_EASYOCR_DIR", str(tmp_path))
    for name, kind in FILES.items():
        (tmp_path / name).write_bytes(name.encode())
        variable = f"MESOCOSM_VISION_EASYOCR_{kind.upper()}_SHA256"
        monkeypatch.setenv(variable, sha256(name.encode()))
    return tmp_path


@pytest.fixture
def xfeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "xfeat.pt"
    path.write_bytes(b"no weights")
    monkeypatch.setenv("MESOCOSM_VISION_XFEAT_WEIGHTS", str(path))
    monkeypatch.setenv("MESOCOSM_VISION_XFEAT_SHA256", sha256(b"no weights").upper())
    return path


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WEIGHTS.items():
        monkeypatch.setenv(key, value)


def refusal(make: Callable[[], object]) -> RequirementError:
    with pytest.raises(RequirementError) as caught:
        make()
    return caught.value


@pytest.mark.parametrize(
    ("make", "variable", "name"),
    [(EasyOcr, "EASYOCR_DIR", "EasyOCR"), (XFeat, "XFEAT_WEIGHTS", "XFeat")],
)
def test_missing_weights_path_names_the_setting(
    make: Callable[[], object], variable: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"MESOCOSM_VISION_{variable}", raising=False)
    error = refusal(make)
    assert error.brief == f"The weights of {name} are missing."
    assert "Path: not set." in error.details
    assert f"MESOCOSM_VISION_{variable}" in error.resolution


@pytest.mark.parametrize("name", FILES)
def test_each_easyocr_file_must_exist_and_match_its_checksum(easyocr: Path, name: str) -> None:
    (easyocr / name).write_bytes(b"something else")
    error = refusal(EasyOcr)
    assert error.brief == f"{easyocr / name} is not the expected file of weights."
    assert sha256(b"something else") in error.details
    assert f"EASYOCR_{FILES[name].upper()}_SHA256" in error.resolution
    (easyocr / name).unlink()
    assert str(easyocr / name) in refusal(EasyOcr).details


def test_xfeat_file_must_exist_and_match_its_checksum(
    xfeat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_VISION_XFEAT_SHA256", "")
    assert "no checksum is set" in refusal(XFeat).details
    monkeypatch.setenv("MESOCOSM_VISION_XFEAT_SHA256", "0" * 64)
    assert "XFEAT_SHA256" in refusal(XFeat).resolution
    xfeat.unlink()
    assert str(xfeat) in refusal(XFeat).details


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
@pytest.mark.usefixtures("easyocr", "xfeat")
@pytest.mark.parametrize("make", [EasyOcr, XFeat])
def test_missing_extra_is_named_if_the_files_are_valid(
    make: Callable[[], object],
) -> None:
    error = refusal(make)
    assert error.brief == "torch cannot be imported."
    assert 'pip install "mesocosm[vision]"' in error.resolution


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
@pytest.mark.usefixtures("easyocr")
def test_invalid_weights_files_are_rejected() -> None:
    assert "cannot load its weights" in refusal(EasyOcr).brief


def test_unimportable_module_names_its_extra() -> None:
    error = refusal(lambda: need("no_such_module_of_anybody", "ocr"))
    assert 'pip install "mesocosm[ocr]"' in error.resolution


def test_unavailable_engine_is_in_the_table_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MESOCOSM_VISION_XFEAT_WEIGHTS", raising=False)
    pixels = noise(1, (360, 240), (60, 40))
    sift, xfeat = bench_matchers(pixels, 1)
    assert sift.error_px is not None
    assert sift.error_px < 1
    assert xfeat == Finding("xfeat", trouble=xfeat.trouble)
    assert "The weights of XFeat are missing." in xfeat.trouble
    assert "| xfeat | - | - | - | The weights of XFeat" in markdown(matcher_table([sift, xfeat]))
    row = Reading("easyocr", trouble="The weights of EasyOCR are missing.")
    assert "| easyocr | - | - | - | - | - | The weights" in markdown(table([row], pixels))


@pytest.mark.slow
def test_rapidocr_and_tesseract_read_a_text() -> None:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (400, 80), "white")
    font = ImageFont.load_default(size=28)
    ImageDraw.Draw(image).text((20, 20), "Invoice 4711", fill="black", font=font)
    import numpy as np

    rows = {row.engine: row for row in bench_ocr(np.array(image), ["Invoice 4711"], 1)}
    for name in ("rapidocr", "tesseract"):
        assert rows[name].trouble == ""
        assert rows[name].share == 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("weights")
@pytest.mark.filterwarnings(
    "ignore"
)  # warnings of EasyOCR: it quantizes, and pins memory without a GPU
@pytest.mark.skipif(
    not HAS_TORCH or "MESOCOSM_VISION_EASYOCR_DIR" not in WEIGHTS,
    reason="torch or EasyOCR's weights are missing",
)
def test_easyocr_with_its_own_weights_reads_a_desktop() -> None:
    pixels, strings = bench.load_picture(bench.PICTURE, bench.EXPECTED)
    lines = EasyOcr().read(pixels)
    read = [string for string in strings if any(holds(line.text, string) for line in lines)]
    assert len(read) > len(strings) / 2
    places = {line.text: line.bounds for line in lines}
    assert places["Applications"].bottom < pixels.shape[0] / 10
    assert places["Desktop"].top > pixels.shape[0] / 2


@pytest.mark.slow
@pytest.mark.usefixtures("weights")
@pytest.mark.skipif(
    not HAS_TORCH or "MESOCOSM_VISION_XFEAT_WEIGHTS" not in WEIGHTS,
    reason="torch or XFeat's weights are missing",
)
def test_xfeat_with_its_own_weights_finds_only_existing_parts() -> None:
    pixels, _ = bench.load_picture(bench.PICTURE, bench.EXPECTED)
    by = XFeat()
    match = locate(pixels[250:520, 400:840], pixels, by)
    assert match is not None
    assert abs(match.left - 400) < 2
    assert abs(match.top - 250) < 2
    assert abs(match.scale - 1) < 0.02
    assert locate(noise(1, (360, 240), (60, 40)), pixels, by) is None


@pytest.mark.parametrize(
    ("line", "wanted", "is_held"),
    [
        ("Total: 42.50", "42.50", True),
        ("Coffeebeans", "Coffee beans", True),
        ("Invoice 78", "Invoice 7", False),
        ("reInvoice 7", "Invoice 7", False),
        ("Invoice 7", "invoice 7", False),
        ("Invoice 78 Invoice 7", "Invoice 7", True),
        ("anything", "", False),
    ],
)
def test_recognised_line_matches_whole_words_only(line: str, wanted: str, is_held: bool) -> None:
    assert holds(line, wanted) is is_held
