"""Synchronise the folder ``Cloud`` of the shared files, by WebDAV."""

from __future__ import annotations

import base64
import hashlib
import html
import http.client
import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from images.phone.device.store.media import delete_path, resolve
from images.phone.device.sync.account import (
    HERE,
    TIMEOUT_S,
    Known,
    RewoundError,
    drop_known,
    list_known,
    put_known,
    writing,
)
from images.phone.device.sync.collections import DavError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from images.phone.device.phone import Phone
    from images.phone.device.sync.account import Account

FOLDER = "Cloud"
"""Where the files are, below ``/sdcard``."""
KIND = "file"
MAX_BYTES = 20 << 20
"""Larger files stay where they are."""
_HTTP_PORT = 80
_HOST = "cloud.example"
_HOME = "/files/"
_GONE = 404
_EXISTS = 405
_SUCCESS = range(200, 300)
_ASK = b'<propfind xmlns="DAV:"><prop><getetag/><resourcetype/></prop></propfind>'
_ENTRY = re.compile(r"<D:response[ >].*?</D:response>", re.DOTALL)
_PATH = re.compile(r"<D:href>([^<]*)</D:href>")
_TAG = re.compile(r"<(?:\w+:)?getetag>(?:W/)?([^<]*)<")
_IS_FOLDER = re.compile(r"<D:collection */>")
_AS_FOLDER = "folder"


class _Stamp(NamedTuple):
    """Tells whether a file of the phone may have changed."""

    inode: int
    changed_ns: int
    size: int


class FileSync:
    """Synchronises the files of one account.

    Args:
        phone: the phone.
        account: the account.
        epoch: first part of the version of the state that is synchronised.
    """

    def __init__(self, phone: Phone, account: Account, epoch: int) -> None:
        self._phone = phone
        self._epoch = epoch
        login = base64.b64encode(f"{account.email}:{account.password}".encode()).decode()
        self._headers = {"Host": _HOST, "Authorization": f"Basic {login}"}
        self._digests: dict[str, tuple[_Stamp, str]] = {}

    def run(self) -> None:
        """Send what was changed on the phone, then fetch what was changed on the server.

        Raises:
            OSError, http.client.HTTPException: the server does not answer, or refuses.
        """
        connection = http.client.HTTPConnection(HERE, _HTTP_PORT, timeout=TIMEOUT_S)
        try:
            there = self._list(connection)
            with self._phone.lock:
                known = {row.remote: row.digest for row in list_known(self._phone.store, KIND)}
            if self._push(connection, known, there):
                there = self._list(connection)
            self._pull(connection, there)
        finally:
            connection.close()

    def _push(
        self,
        connection: http.client.HTTPConnection,
        known: Mapping[str, str],
        there: Mapping[str, str],
    ) -> bool:
        """Send changes of the phone; return whether there were any."""
        here = self._look()
        with self._phone.lock:
            if self._phone.store.version[0] != self._epoch:
                raise RewoundError("the phone was rewound")
        changes = 0
        for path in sorted(known.keys() - here.keys(), reverse=True):
            if path in there and there[path] == _tag_of(known[path]):
                self._ask(connection, "DELETE", path)
                changes += 1
            self._forget(path)
        for path in sorted(here):
            digest = here[path]
            if path in known and _digest_of(known[path]) == digest:
                continue
            if digest == _AS_FOLDER:
                if path not in there:
                    self._ask(connection, "MKCOL", path)
                self._keep(path, _AS_FOLDER, _AS_FOLDER)
            else:
                data = self._read(path)
                if data is None:
                    continue
                self._ask(connection, "PUT", path, data)
                tag = self._list(connection, path).get(path, "")
                self._keep(path, tag, _hash(data))
            changes += 1
        return changes > 0

    def _pull(self, connection: http.client.HTTPConnection, there: Mapping[str, str]) -> None:
        with self._phone.lock:
            known = {row.remote: row.digest for row in list_known(self._phone.store, KIND)}
        for path in sorted(there):
            tag = there[path]
            if path in known and _tag_of(known[path]) == tag:
                continue
            data = None if tag == _AS_FOLDER else self._ask(connection, "GET", path)
            with writing(self._phone, self._epoch):
                if not self._may_replace(path, known.get(path, "")):
                    continue
                self._write(path, data)
                digest = _AS_FOLDER if data is None else _hash(data)
                self._put(path, tag, digest)
        for path in sorted(known.keys() - there.keys(), reverse=True):
            with writing(self._phone, self._epoch):
                if self._may_replace(path, known[path]):
                    self._remove(path)
                    drop_known(self._phone.store, KIND, path)

    def _look(self) -> dict[str, str]:
        """Return the digest of each file and folder of the phone, by path."""
        root = resolve(self._phone.shared_dir, FOLDER)
        found: dict[str, str] = {}
        if root is None or not root.is_dir() or root.is_symlink():
            return found
        for parent, folders, names in os.walk(root):
            base = os.path.relpath(parent, root)
            for name in (*folders, *names):
                path = name if base == "." else f"{base}/{name}"
                try:
                    digest = self._digest(path, os.lstat(f"{parent}/{name}"))
                except OSError:
                    continue  # removed meanwhile
                if digest:
                    found[path] = digest
        return found

    def _digest(self, path: str, info: os.stat_result) -> str:
        """Return the digest of a file or folder; empty for what is not synchronised."""
        if stat.S_ISDIR(info.st_mode):
            return _AS_FOLDER
        if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_BYTES:
            return ""
        stamp = _Stamp(info.st_ino, info.st_ctime_ns, info.st_size)
        if (kept := self._digests.get(path)) and kept[0] == stamp:
            return kept[1]
        data = self._read(path)
        if data is None:
            return ""
        self._digests[path] = stamp, _hash(data)
        return self._digests[path][1]

    def _may_replace(self, path: str, known: str) -> bool:
        """Return whether a path of the phone is as it was when it was last the same."""
        real = self._real(path)
        if real is None:
            return False
        try:
            digest = self._digest(path, os.lstat(real))
        except OSError:
            return not known  # removed on the phone meanwhile
        return digest == (_digest_of(known) if known else _AS_FOLDER)

    def _write(self, path: str, data: bytes | None) -> None:
        real = self._real(path)
        if real is None:
            return
        if data is None:
            real.mkdir(parents=True, exist_ok=True)
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(data)

    def _remove(self, path: str) -> None:
        real = self._real(path)
        if real is None:
            return
        if real.is_dir():
            if not any(real.iterdir()):
                real.rmdir()
            return
        delete_path(self._phone.shared_dir, f"{FOLDER}/{path}")

    def _read(self, path: str) -> bytes | None:
        real = self._real(path)
        try:
            return None if real is None else real.read_bytes()
        except OSError:
            return None

    def _real(self, path: str) -> Path | None:
        return resolve(self._phone.shared_dir, f"{FOLDER}/{path}")

    def _keep(self, path: str, tag: str, digest: str) -> None:
        with writing(self._phone, self._epoch):
            self._put(path, tag, digest)

    def _put(self, path: str, tag: str, digest: str) -> None:
        put_known(self._phone.store, KIND, Known(0, path, f"{digest} {tag}"))

    def _forget(self, path: str) -> None:
        with writing(self._phone, self._epoch):
            drop_known(self._phone.store, KIND, path)

    def _list(self, connection: http.client.HTTPConnection, path: str = "") -> dict[str, str]:
        """Return the tag of each file and folder of the server, by path."""
        answer = self._ask(connection, "PROPFIND", path, _ASK).decode(errors="replace")
        found: dict[str, str] = {}
        for entry in _ENTRY.findall(answer):
            href, tag = _PATH.search(entry), _TAG.search(entry)
            name = unquote(html.unescape(href[1])).removeprefix(_HOME).strip("/") if href else ""
            if name and all(part not in {"", ".", ".."} for part in name.split("/")):
                is_folder = _IS_FOLDER.search(entry) is not None
                found[name] = _AS_FOLDER if is_folder else tag[1].strip() if tag else ""
        return found

    def _ask(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        data: bytes | None = None,
    ) -> bytes:
        headers = {**self._headers, "Depth": "infinity"}
        connection.request(method, f"{_HOME}{quote(path)}", data, headers)
        reply = connection.getresponse()
        answer = reply.read()
        is_done = (method, reply.status) in {("DELETE", _GONE), ("MKCOL", _EXISTS)}
        if reply.status not in _SUCCESS and not is_done:
            raise DavError(f"{method} {path}: {reply.status}")
        return answer


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(known: str) -> str:
    """Return the phone's part of what is known."""
    return known.partition(" ")[0]


def _tag_of(known: str) -> str:
    """Return the server's part of what is known."""
    return known.partition(" ")[2]
