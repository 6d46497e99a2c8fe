"""Files of a guest through its probe, in pieces that fit a line."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.base.errors import GuestCallError, LinkProtocolError
from provisioning.links.framing import CHUNK_BYTES
from provisioning.protocols import FileStat

if TYPE_CHECKING:
    from provisioning.protocols import Json, Link

MAX_FILE_BYTES = 1 << 30
"""Most that is read of a guest's file into this host's memory."""


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
        link: to the probe.
        user: who owns what is written; by default who owns the folder it is written to.
        timeout_s: deadline of each piece.
    """

    def __init__(self, link: Link, *, user: str = "", timeout_s: float = 30.0) -> None:
        self._link = link
        self._user = user
        self._timeout_s = timeout_s

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file, its folders made, so that readers see the old or the new one.

        Raises:
            GuestCallError: the guest cannot write there.
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
            GuestCallError: there is none, or it cannot be read.
            LinkProtocolError: the guest's pieces make no sense, or exceed 1 GiB.
        """
        data = bytearray()
        while True:
            params: dict[str, Json] = {"path": path, "offset": len(data), "length": CHUNK_BYTES}
            reply = self._link.call("get", params, timeout_s=self._timeout_s)
            try:
                piece = _Piece.model_validate(reply)
                raw = base64.b64decode(piece.data_b64, validate=True)
            except ValueError as exc:
                raise _nonsense("get", exc) from exc
            data += raw
            if piece.eof:
                return bytes(data)
            if not raw or len(data) > MAX_FILE_BYTES:
                raise LinkProtocolError(f"Reading {path} from the guest does not come to an end.")

    def get_straight(self, path: str, max_bytes: int) -> bytes | None:
        """Read a regular file that no symbolic link leads to, as evaluators must.

        Args:
            path: absolute.
            max_bytes: a larger file is not read.

        Returns:
            Its content; None when there is no such file, a link or something else is in the way,
            or it is larger than `max_bytes`.

        Raises:
            GuestCallError: the guest cannot read it.
            LinkProtocolError: it changed while it was read, or the guest's pieces make no sense.
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
                raise _nonsense("get", exc) from exc
            if piece.size > max_bytes:
                return None
            data += raw
            if size not in {None, piece.size} or piece.eof != (len(data) >= piece.size):
                raise LinkProtocolError(f"{path} changed in the guest while it was read.")
            if piece.eof:
                return bytes(data)
            if not raw:
                raise LinkProtocolError(f"Reading {path} from the guest does not come to an end.")
            size = piece.size

    def stat(self, path: str) -> FileStat | None:
        """Return what is known of a file; None when there is none.

        Raises:
            GuestCallError: the guest cannot tell.
        """
        try:
            status = _Stat.model_validate(self._link.call("stat", {"path": path}))
        except ValidationError as exc:
            raise _nonsense("stat", exc) from exc
        return FileStat(status.size, status.mode, status.mtime) if status.exists else None


def _nonsense(op: str, exc: ValueError) -> LinkProtocolError:
    return LinkProtocolError(
        f"The probe's reply to {op!r} has a wrong shape.", details=str(exc)[:500]
    )
