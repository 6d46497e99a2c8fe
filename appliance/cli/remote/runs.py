"""Recorded runs of a service on another host, whose logs are fetched and read locally."""

from __future__ import annotations

import contextlib
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from appliance.cli.remote.client import ServerError
from controller.store.index import RunRow
from controller.store.runs import Store

if TYPE_CHECKING:
    from types import TracebackType

    from appliance.cli.remote.client import Client
    from controller.store.runs import RunFolder

_MAX_ROWS = 10_000


class RemoteRuns:
    """Recorded runs of a remote service; a context manager that removes the fetched files.

    Args:
        client: of the service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stack = contextlib.ExitStack()
        self._store = Store(Path(self._stack.enter_context(tempfile.TemporaryDirectory())))
        self._names: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def rows(self) -> list[RunRow]:
        """Return all runs, the latest last; errors are those of `Client.get`."""
        rows = self._client.get("/runs", limit=_MAX_ROWS)["runs"]
        return [RunRow(**row) for row in reversed(rows)]

    def open(self, name: str) -> RunFolder:
        """Fetch a run without its pictures and return it.

        Args:
            name: its id, ``latest``, or ``latest:SUITE,AGENT``.

        Raises:
            ServerError: the reply is not a run; other errors are those of `Client.get`.
        """
        if name not in self._names:
            self._names[name] = self._fetch(name)
        return self._store.open(self._names[name])

    def _fetch(self, name: str) -> str:
        with tempfile.TemporaryFile() as archive:
            self._client.download(f"/runs/{quote(name, safe='')}/logs", archive)
            archive.seek(0)
            try:
                with tarfile.open(fileobj=archive, mode="r:gz") as tar:
                    self._store.root.mkdir(parents=True, exist_ok=True)
                    tar.extractall(self._store.root, filter="data")
                    return tar.getnames()[0].partition("/")[0]
            except (tarfile.TarError, OSError, IndexError) as exc:
                raise ServerError(f"Cannot read the logs of {name}.", str(exc)) from exc
