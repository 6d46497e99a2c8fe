"""Tests of views of documents on a stand-in of the renderer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from evaluators.rendering.cache import ViewCache
from evaluators.rendering.client import DocumentViews
from evaluators.rendering.errors import DocumentUnviewableError, RendererError
from evaluators.rendering.pool import RendererPool
from evaluators.rendering.process import RendererProcess
from evaluators.rendering.request import CellItem, ViewRequest
from evaluators.rendering.views.sheets import SheetsView
from images.renderer.program.framing import VERSION, encode
from tests.standins.renderer import StandInRenderer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Answer = Callable[[dict[str, Any], list[bytes]], bytes]

REQUEST = ViewRequest(suffix="ods", shown=(CellItem(sheet="S", cell="B3"),))
VIEW = {
    "version": VERSION,
    "kind": "sheets",
    "sheets": [],
    "active_sheet": "S",
    "null_date": "1899-12-30",
    "perturbed": [],
    "shown": [],
}


def reply(view: object = VIEW, *pages: bytes) -> bytes:
    return encode({"error": ""}, [json.dumps(view).encode(), *pages])


class Renderers:
    """Starts stand-ins and keeps them."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.started: list[StandInRenderer] = []

    def start(self) -> RendererProcess:
        self.started.append(StandInRenderer(self.answer))
        return RendererProcess(self.started[-1])


def views_of(
    renderers: Renderers, folder: Path, *, size: int = 0, digest: str = "d"
) -> DocumentViews:
    pool = RendererPool(renderers.start, size=size)
    return DocumentViews(digest, pool, ViewCache(folder), timeout_s=0.3)


def test_the_document_and_the_request_reach_the_renderer(tmp_path: Path) -> None:
    received = []

    def answer(header: dict[str, Any], parts: list[bytes]) -> bytes:
        received.append((header, parts))
        return reply(VIEW, b"png")

    renderers = Renderers(answer)
    viewed = views_of(renderers, tmp_path).view(b"file", REQUEST)
    assert isinstance(viewed.view, SheetsView)
    assert viewed.pages == (b"png",)
    ((header, parts),) = received
    assert parts == [b"file"]
    assert header["suffix"] == "ods"
    assert header["shown"] == [{"kind": "cell", "sheet": "S", "cell": "B3"}]
    assert renderers.started[0].is_closed


def test_a_view_is_made_once_for_document_request_and_renderer(tmp_path: Path) -> None:
    renderers = Renderers(lambda *_: reply())
    views = views_of(renderers, tmp_path)
    first = views.view(b"file", REQUEST)
    assert views.view(b"file", REQUEST) == first
    assert len(renderers.started) == 1
    views.view(b"other", REQUEST)
    views.view(b"file", REQUEST.model_copy(update={"pages": True}))
    views_of(renderers, tmp_path, digest="other").view(b"file", REQUEST)
    assert len(renderers.started) == 4


def test_a_damaged_cached_view_is_made_again(tmp_path: Path) -> None:
    renderers = Renderers(lambda *_: reply())
    views = views_of(renderers, tmp_path)
    views.view(b"file", REQUEST)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    views.view(b"file", REQUEST)
    assert len(renderers.started) == 2


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    cache = ViewCache(tmp_path, max_bytes=250)
    for name in ("a", "b", "c"):
        cache.put(name, [b"x" * 100])
    assert cache.get("a") is None
    assert cache.get("c") == [b"x" * 100]


def test_a_refusal_is_the_documents_and_is_not_cached(tmp_path: Path) -> None:
    renderers = Renderers(lambda *_: encode({"error": "LibreOffice cannot open the file."}))
    views = views_of(renderers, tmp_path)
    for _ in range(2):
        with pytest.raises(DocumentUnviewableError, match="cannot open"):
            views.view(b"file", REQUEST)
    assert len(renderers.started) == 2
    assert all(started.is_closed for started in renderers.started)


def test_a_renderer_that_dies_on_a_document_is_the_documents_fault(tmp_path: Path) -> None:
    renderers = Renderers(lambda *_: b"")
    with pytest.raises(DocumentUnviewableError, match="its last words"):
        views_of(renderers, tmp_path).view(b"file", REQUEST)
    assert len(renderers.started) == 2


def test_a_document_on_which_a_renderer_died_once_is_viewed(tmp_path: Path) -> None:
    replies = [b"", reply()]
    renderers = Renderers(lambda *_: replies.pop(0))
    assert isinstance(views_of(renderers, tmp_path).view(b"file", REQUEST).view, SheetsView)


def test_a_renderer_that_does_not_reply_is_ended_and_not_the_documents_fault(
    tmp_path: Path,
) -> None:
    import threading

    released = threading.Event()

    def answer(*_: object) -> bytes:
        released.wait(10)
        return b""

    renderers = Renderers(answer)
    with pytest.raises(RendererError, match=r"0\.3 s"):
        views_of(renderers, tmp_path).view(b"file", REQUEST)
    released.set()
    assert renderers.started[0].is_closed


@pytest.mark.parametrize(
    "data",
    [
        b"junk\n",
        encode({"error": ""}),
        reply({**VIEW, "version": VERSION + 1}),
        reply({**VIEW, "surprise": 1}),
        reply([]),
    ],
)
def test_what_is_no_reply_is_the_renderers_fault(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(RendererError):
        views_of(Renderers(lambda *_: data), tmp_path).view(b"file", REQUEST)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("greeting", [b"", encode({"ready": False}), b"noise\n"])
def test_a_renderer_that_does_not_start_is_an_error(greeting: bytes) -> None:
    standin = StandInRenderer(lambda *_: b"", greeting)
    if not greeting:
        standin._other.close()
    with pytest.raises(RendererError):
        RendererProcess(standin)
    assert standin.is_closed


def test_renderers_stand_by_and_are_used_once(tmp_path: Path) -> None:
    renderers = Renderers(lambda *_: reply())
    views = views_of(renderers, tmp_path, size=1)
    views.warm()
    views._pool.wait_until_warm()
    assert len(renderers.started) == 1
    views.view(b"1", REQUEST)
    views._pool.wait_until_warm()
    assert [started.is_closed for started in renderers.started] == [True, False]
    views.close()
    assert [started.is_closed for started in renderers.started] == [True, True]
    views.warm()
    assert len(renderers.started) == 2


def test_documents_and_requests_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluators.rendering.client.MAX_DOCUMENT_BYTES", 3)
    renderers = Renderers(lambda *_: reply())
    with pytest.raises(DocumentUnviewableError):
        views_of(renderers, tmp_path).view(b"file", REQUEST)
    assert renderers.started == []
    with pytest.raises(ValidationError):
        ViewRequest(suffix="../x")
    with pytest.raises(ValidationError):
        CellItem(sheet="S", cell="A0")
