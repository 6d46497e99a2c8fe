"""Access to a guest's files through its probe, in chunks that fit into a line."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foundation.errors import GuestCallError, LinkProtocolError
from provisioning.links.framing import CHUNK_BYTES
from provisioning.protocols import FileStat

if TYPE_CHECKING:
    from provisioning.protocols import Json, Link

MAX_FILE_BYTES = 1 << 30
"""Maximum size of a guest's file that is read into this host's memory."""


class _Piece(BaseModel):
    model_config = ConfigDict(strict=True)

    data_b64: str
    eof: bool
    size: int = Field(ge=0)


class _Stat(BaseModel):
    model_config = ConfigDict(strict=True)

    exists: bool
    size: int = Field(ge=0)
    mode: int = Field(ge=0)
    mtime: float


class LinkFiles:
    """`provisioning.protocols.Files` over a link.

    Args:
        link: link to the probe.
        user: owner of written files; by default, the owner of the folder.
        timeout_s: time limit of each chunk.
    """

    def __init__(self, link: Link, *, user: str = "", timeout_s: float = 30.0) -> None:
        self._link = link
        self._user = user
        self._timeout_s = timeout_s

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file atomically, creating its parent folders.

        Raises:
            GuestCallError: the guest cannot write the file.
        """
        common: dict[str, Json] = {
            "path": path,
            "total": len(data),
            "mode": mode,
            "token": secrets.token_hex(8),
        }
        if self._user:
            common["user"] = self._user
        for offset in range(0, max(1, len(data)), CHUNK_BYTES):
            piece = base64.b64encode(data[offset : offset + CHUNK_BYTES]).decode()
            params = {**common, "offset": offset, "data_b64": piece}
            self._link.call("put", params, timeout_s=self._timeout_s)

    def get(self, path: str) -> bytes:
        """Read a file.

        Raises:
            GuestCallError: the file does not exist, or cannot be read.
            LinkProtocolError: the guest's chunks are invalid, or exceed 1 GiB.
        """
        data = bytearray()
        while True:
            params: dict[str, Json] = {"path": path, "offset": len(data), "length": CHUNK_BYTES}
            reply = self._link.call("get", params, timeout_s=self._timeout_s)
            try:
                piece = _Piece.model_validate(reply)
                raw = base64.b64decode(piece.data_b64, validate=True)
            except ValueError as exc:
                raise _invalid_reply("get", exc) from exc
            data += raw
            if piece.eof:
                return bytes(data)
            if not raw or len(data) > MAX_FILE_BYTES:
                raise LinkProtocolError(f"Reading {path} from the guest does not end.")

    def get_no_follow(self, path: str, max_bytes: int) -> bytes | None:
        """Read a regular file without following symbolic links, as evaluators must.

        Args:
            path: absolute path.
            max_bytes: maximum size of the file.

        Returns:
            Its content; None if the file does not exist, is not regular, is reached through a
            symbolic link, or is larger than `max_bytes`.

        Raises:
            GuestCallError: the guest cannot read the file.
            LinkProtocolError: the file changed while it was read, or the guest's chunks are invalid.
        """
        data = bytearray()
        size: int | None = None
        while True:
            params: dict[str, Json] = {
                "path": path, "offset": len(data), "length": CHUNK_BYTES, "straight": True,
            }  # fmt: skip
            try:
                reply = self._link.call("get", params, timeout_s=self._timeout_s)
            except GuestCallError as exc:
                if exc.kind in {"not_found", "not_straight"}:
                    return None
                raise
            try:
                piece = _Piece.model_validate(reply)
                raw = base64.b64decode(piece.data_b64, validate=True)
            except ValueError as exc:
                raise _invalid_reply("get", exc) from exc
            if piece.size > max_bytes:
                return None
            data += raw
            if size not in {None, piece.size} or piece.eof != (len(data) >= piece.size):
                raise LinkProtocolError(f"{path} changed in the guest while it was read.")
            if piece.eof:
                return bytes(data)
            if not raw:
                raise LinkProtocolError(f"Reading {path} from the guest does not end.")
            size = piece.size

    def stat(self, path: str) -> FileStat | None:
        """Return the metadata of a file; None if it does not exist.

        Raises:
            GuestCallError: the guest cannot read the metadata.
        """
        try:
            status = _Stat.model_validate(self._link.call("stat", {"path": path}))
        except ValidationError as exc:
            raise _invalid_reply("stat", exc) from exc
        return FileStat(status.size, status.mode, status.mtime) if status.exists else None


def _invalid_reply(op: str, exc: ValueError) -> LinkProtocolError:
    return LinkProtocolError(f"The probe's reply to {op!r} is invalid.", details=str(exc)[:500])
