"""Renderers for tests: a stand-in in a thread, and the real one's settings."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import docker
import pytest

from evaluators.rendering.cache import ViewCache
from evaluators.rendering.client import DocumentViews
from evaluators.rendering.container import LABEL_RENDERER, open_renderer
from evaluators.rendering.pool import RendererPool
from evaluators.rendering.process import RendererProcess
from foundation.errors import ImageError, RequirementError
from foundation.settings import get_settings
from images.builder import Builder
from images.renderer.program.framing import encode, read_message
from provisioning.container_names import LABEL_STATE
from tests.standins.appliance import IS_UP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from docker.models.containers import Container

TAG = os.environ.get("MESOCOSM_TEST_RENDERER", "")
"""Docker tag of a renderer to test in place of this appliance's."""


class StandInRenderer:
    """A transport to a thread that behaves like a renderer.

    Args:
        answer: returns the bytes of the reply to header and parts of a request.
        greeting: what it sends first.
    """

    def __init__(
        self,
        answer: Callable[[dict[str, Any], list[bytes]], bytes],
        greeting: bytes = encode({"ready": True}),
    ) -> None:
        self.is_closed = False
        self._answer = answer
        self._own, self._other = socket.socketpair()
        self._other.sendall(greeting)
        threading.Thread(target=self._serve, daemon=True).start()

    def read(self) -> bytes:
        return self._own.recv(1 << 16)

    def write(self, data: bytes) -> None:
        self._own.sendall(data)

    def close(self) -> None:
        self.is_closed = True
        with contextlib.suppress(OSError):
            self._own.shutdown(socket.SHUT_RDWR)
        self._own.close()
        self._other.close()

    def read_error_tail(self) -> str:
        return "its last words"

    def _serve(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            header, parts = read_message(self._other.recv)
            self._other.sendall(self._answer(header, parts))
            self._other.shutdown(socket.SHUT_WR)


def real_views(folder: Path, *, size: int = 1) -> DocumentViews:
    """Return views by this appliance's renderer, without earlier ones; skip the test if it is not built.

    Args:
        folder: for the cache; also marks the containers, as their state folder.
        size: number of renderers that stand by.
    """
    tag = TAG or _built()
    start = partial(_start, tag, folder)
    return DocumentViews(tag, RendererPool(start, size=size), ViewCache(folder / "views"))


def renderers_of(folder: Path) -> list[Container]:
    """Return the containers of renderers that `real_views` started for a folder."""
    client = docker.from_env()
    try:
        labels = [f"{LABEL_STATE}={folder}", LABEL_RENDERER]
        return list(client.containers.list(all=True, filters={"label": labels}))
    finally:
        client.close()


def _start(tag: str, folder: Path) -> RendererProcess:
    return RendererProcess(open_renderer(tag, folder))


def _built() -> str:
    builder = Builder(get_settings())
    try:
        if IS_UP:
            builder.ensure("renderer", repair=True)
        return str(builder.find("renderer").tag)
    except (ImageError, RequirementError) as exc:
        pytest.skip(str(exc))
