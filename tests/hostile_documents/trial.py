"""View hostile documents with the real renderer, and record what becomes of each."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import docker
import numpy as np

from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.request import ViewRequest
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evaluators.rendering.client import DocumentViews
    from tests.hostile_documents.bases import HostileDocument

Fate = Literal["viewed", "refused", "died", "timed out", "leaked", "failed"]
BAD: tuple[Fate, ...] = ("leaked", "failed")
SECRETS = (b"root:x:0:0", b"PYTHONPATH=/opt", b"PYTHONUNBUFFERED")
"""Parts of files in the container that documents ask for."""
_BRIDGE = "172.17.0.1"
_WORKERS = 2


@dataclass(frozen=True)
class Attempt:
    """What became of a document.

    Attributes:
        name: its name.
        fate: ``leaked`` if its view has a secret, ``failed`` if something else than a view or a
            `DocumentUnviewableError` came.
        seconds: time of the view, with waiting for a renderer.
        detail: the error.
    """

    name: str
    fate: Fate
    seconds: float
    detail: str = ""


class Listener:
    """A server on all addresses of this host that counts connections."""

    def __init__(self) -> None:
        self._server = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - containers must reach it
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """The port."""
        return int(self._server.getsockname()[1])

    @property
    def address(self) -> str:
        """The address at which a container with a network would reach it."""
        client = docker.from_env()
        try:
            config = client.networks.get("bridge").attrs["IPAM"]["Config"]
            host = config[0].get("Gateway", _BRIDGE) if config else _BRIDGE
        finally:
            client.close()
        return f"{host}:{self.port}"

    def close(self) -> None:
        """Stop."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()


def attempt(
    views: DocumentViews,
    documents: Iterable[HostileDocument],
    tell: Callable[[Attempt], None] = lambda _attempt: None,
) -> list[Attempt]:
    """View documents, two at a time; `tell` receives each result."""

    def view(document: HostileDocument) -> Attempt:
        made = _attempt(views, document)
        tell(made)
        return made

    with ThreadPoolExecutor(_WORKERS) as workers:
        return list(workers.map(view, documents))


def _attempt(views: DocumentViews, document: HostileDocument) -> Attempt:
    start_s = SYSTEM_CLOCK.monotonic_s()
    detail = ""
    fate: Fate = "viewed"
    try:
        viewed = views.view(document.data, ViewRequest(suffix=document.suffix, pages=True))
        text = viewed.view.model_dump_json().encode()
        if any(secret in text for secret in SECRETS):
            fate, detail = "leaked", document.name
    except DocumentUnviewableError as exc:
        detail = f"{exc.brief} {exc.details}"
        fate = "refused" if "cannot be viewed" in exc.brief or "larger" in exc.brief else "died"
    except Exception as exc:  # noqa: BLE001 - the host must survive any document
        fate, detail = "failed", f"{type(exc).__name__}: {exc}"
    seconds = SYSTEM_CLOCK.monotonic_s() - start_s
    if fate == "refused" and "It takes more than" in detail:
        fate = "timed out"
    return Attempt(document.name, fate, seconds, detail)


def summary(attempts: Sequence[Attempt]) -> str:
    """Return counts by fate, and percentiles of the times."""
    counts = Counter(made.fate for made in attempts)
    fates = ", ".join(f"{count} {fate}" for fate, count in counts.most_common())
    p50, p95, most = np.percentile([made.seconds for made in attempts], (50, 95, 100))
    return f"{len(attempts)} documents: {fates}; p50 {p50:.1f} s, p95 {p95:.1f} s, max {most:.1f} s"
