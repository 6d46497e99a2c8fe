"""A small apt archive, signed with a generated key and served on loopback."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

_DATE = "Sat, 01 Aug 2026 00:00:00 UTC"


class SigningKey:
    """An OpenPGP key.

    Args:
        home: folder to create; a short path, for the socket of gpg-agent.
        owner: user ID of the key.
    """

    def __init__(self, home: Path, owner: str) -> None:
        self._home = home
        home.mkdir(mode=0o700)
        self.gpg("--quick-gen-key", "--passphrase", "", owner, "ed25519", "sign", "never")
        shown = self.gpg("--list-keys", "--with-colons").decode()
        self.fingerprint = next(
            line.split(":")[9] for line in shown.splitlines() if line.startswith("fpr:")
        )

    def gpg(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run gpg with this key and return its output."""
        argv = ["gpg", "--batch", "--homedir", str(self._home), "--pinentry-mode", "loopback"]
        return run([*argv, *args], stdin=stdin).require().stdout

    def public(self, *, armoured: bool = False) -> bytes:
        """Return the public key."""
        return self.gpg("--export", *(["--armor"] if armoured else []))

    def close(self) -> None:
        """Stop the gpg-agent of this key."""
        run(["gpgconf", "--homedir", str(self._home), "--kill", "all"])


class StandInArchive:
    """Server of an apt archive; `publish` adds a suite to it.

    Args:
        folder: folder to serve; is created.
        key: key that signs the suites.
    """

    def __init__(self, folder: Path, key: SigningKey) -> None:
        self.folder = folder
        self._key = key
        folder.mkdir(parents=True)
        handler = functools.partial(_Silent, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.uri = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def publish(
        self,
        suite: str,
        *packages: tuple[str, str],
        origin: str,
        contents: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Create a suite of packages.

        Args:
            suite: code name of the release.
            packages: name and version of each package.
            origin: origin of the archive.
            contents: package name to path to file content; ``DEBIAN/control`` is added to the
                default fields. Packages that are not listed are empty.
        """
        made = contents or {}
        binary = self.folder / "dists" / suite / "main/binary-amd64"
        binary.mkdir(parents=True)
        index = "\n".join(
            self._make(name, version, made.get(name, {})) for name, version in packages
        )
        (binary / "Packages").write_text(index)
        digest = hashlib.sha256(index.encode()).hexdigest()
        release = (
            f"Origin: {origin}\nSuite: {suite}\nCodename: {suite}\nDate: {_DATE}\n"
            "Architectures: amd64\nComponents: main universe\nSHA256:\n"
            f" {digest} {len(index.encode())} main/binary-amd64/Packages\n"
        )
        signed = self._key.gpg("--clearsign", stdin=release.encode())
        (self.folder / "dists" / suite / "InRelease").write_bytes(signed)

    def _make(self, name: str, version: str, contents: Mapping[str, str]) -> str:
        """Build a package and return its paragraph of the index."""
        fields = (
            f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
            f"{contents.get('DEBIAN/control', '')}"
            f"Maintainer: Nobody <nobody@example.org>\nDescription: stands in\n"
        )
        pool = self.folder / "pool"
        tree = pool / f"{name}-{version.replace(':', '_')}"
        (tree / "DEBIAN").mkdir(parents=True)
        for path, text in contents.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        (tree / "DEBIAN/control").write_text(fields)
        deb = Path(f"{tree}.deb")
        run(["dpkg-deb", "--root-owner-group", "--build", str(tree), str(deb)]).require()
        data = deb.read_bytes()
        place = deb.relative_to(self.folder)
        return (
            f"{fields}Filename: {place}\nSize: {len(data)}\n"
            f"SHA256: {hashlib.sha256(data).hexdigest()}\n"
        )


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass
