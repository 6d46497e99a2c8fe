"""Tests of the second opinion: real text recognition on pictures of lines."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from evaluators.rendering.reading import read_again

LEFT, TOP, BASELINE, BOTTOM = 48, 3, 31, 39


def picture(text: str, color: str = "black", under: str | None = None) -> dict[str, Any]:
    """Return the picture of a line, as the renderer sends it."""
    font = ImageFont.load_default(28)
    width = int(font.getlength(text))
    image = Image.new("RGB", (width + 2 * LEFT, BOTTOM + 3), "white")
    draw = ImageDraw.Draw(image)
    draw.text((LEFT, BASELINE), text, fill=color, font=font, anchor="ls")
    if under:
        draw.rectangle((LEFT, BASELINE + 3, LEFT + width, BASELINE + 5), fill=under)
    out = io.BytesIO()
    image.save(out, "PNG")
    places = {"top_px": TOP, "baseline_px": BASELINE, "bottom_px": BOTTOM}
    return {
        "left_px": LEFT,
        "right_px": LEFT + width,
        **places,
        "png": base64.b64encode(out.getvalue()).decode(),
    }


def row(*lines: tuple[str, dict[str, Any] | None]) -> dict[str, Any]:
    """Return the row of an item with an occurrence for each line of a claimed text and a picture."""
    places = [
        {"page": 0, "left_mm": 1, "top_mm": number, "width_mm": 9, "height_mm": 1}
        for number in range(len(lines))
    ]
    readings = [
        {
            **place,
            "occurrence": number,
            "paragraph": number,
            "text": text,
            "has_label": False,
            "picture": drawn,
        }
        for number, (place, (text, drawn)) in enumerate(zip(places, lines, strict=True))
    ]
    return {
        "is_shown": True,
        "reason": "",
        "places": [{**place, "is_seen": True} for place in places],
        "paragraphs": list(range(len(lines))),
        "readings": readings,
    }


def judged(asked: dict[str, Any], kind: str = "text") -> dict[str, Any]:
    view = {"kind": kind, "paragraphs": [], "shown": [asked]}
    shown: dict[str, Any] = json.loads(read_again(json.dumps(view).encode()))["shown"][0]
    return shown


def test_what_reads_as_it_should_is_seen() -> None:
    shown = judged(row(("Total 41.50", picture("Total 41.50", "#c00000"))))
    assert shown["is_shown"]
    assert [line["read"] for line in shown["readings"]] == ["Total 41.50"]
    assert shown["readings"][0]["color"] == "#c00000"
    assert not shown["readings"][0]["is_underlined"]


def test_what_reads_otherwise_is_not() -> None:
    shown = judged(row(("Total 41.50", picture("Total 91.50"))))
    assert not shown["is_shown"]
    assert shown["reason"] == "it reads as 'Total 91.50' instead of 'Total 41.50'"
    assert not shown["places"][0]["is_seen"]
    assert shown["paragraphs"] == []


def test_other_occurrences_stay_seen() -> None:
    lines = ("Room 7", picture("Room 1")), ("Room 7", picture("Room 7"))
    shown = judged(row(*lines))
    assert shown["is_shown"]
    assert shown["paragraphs"] == [1]
    assert [place["is_seen"] for place in shown["places"]] == [False, True]


def test_of_a_pdf_one_occurrence_is_enough_and_must_be_read() -> None:
    right, wrong = ("Room 7", picture("Room 7")), ("Room 7", picture("Room 1"))
    assert len(judged(row(right, wrong), "pdf")["readings"]) == 1
    assert judged(row(wrong, right), "pdf")["is_shown"]
    assert not judged(row(wrong), "pdf")["is_shown"]


def test_what_cannot_be_read_is_measured_only() -> None:
    shown = judged(row(("שלום", picture("Room 1", under="red")), ("Room 7", None)))
    assert shown["is_shown"]
    assert [line["read"] for line in shown["readings"]] == [None, None]
    assert [line["is_underlined"] for line in shown["readings"]] == [True, False]


def test_views_without_pictures_of_lines_stay_as_they_are() -> None:
    view = b'{"kind": "text",  "shown": [{"is_shown": true}]}'
    assert read_again(view) == view


def test_each_line_of_a_cell_must_read_as_it_should() -> None:
    lines = ("Total", picture("Total")), ("41.50", picture("91.50"))
    assert judged(row(*lines))["is_shown"]
    assert not judged(row(*lines), "sheets")["is_shown"]


def test_what_of_a_cell_is_cut_off_may_be_in_the_picture() -> None:
    asked = row(("Total 41", picture("Total 41.50")))
    asked["readings"][0]["context"] = "Total 41.50 in all"
    assert judged(asked, "sheets")["is_shown"]


def lowered(before: str, digit: str, behind: str) -> dict[str, Any]:
    """Return the picture of a line with a small digit below the others."""
    large, small = ImageFont.load_default(22), ImageFont.load_default(13)
    image = Image.new("RGB", (640, BOTTOM + 3), "white")
    draw = ImageDraw.Draw(image)
    x = float(LEFT)
    for text, font, y in ((before, large, 27), (digit, small, 34), (behind, large, 27)):
        draw.text((x, y), text, fill="black", font=font, anchor="ls")
        x += font.getlength(text) + 4 * (font is small)
    out = io.BytesIO()
    image.save(out, "PNG")
    data = base64.b64encode(out.getvalue()).decode()
    edges = {"left_px": LEFT, "right_px": int(x), "top_px": TOP, "baseline_px": 27}
    return {**edges, "bottom_px": BOTTOM, "png": data}


def test_small_digits_of_a_long_line_are_read_in_its_parts() -> None:
    text = "Methane is CH4; it is explosive."
    shown = judged(row((text, lowered("Methane is CH", "4", "; it is explosive."))))
    assert shown["is_shown"], shown["reason"]
    assert not judged(row((text, lowered("Methane is CH", "3", "; it is explosive."))))["is_shown"]
