"""The key of a run, with which processes on other hosts may record its trials, and nothing else."""

from __future__ import annotations

import contextlib
import hmac
import secrets
from typing import TYPE_CHECKING

from foundation.files import digest_bytes, write_atomic
from foundation.masking import redact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.store.runs import RunFolder

_FILE = "recording-key"
_BYTES = 32


@contextlib.contextmanager
def recording_key(run: RunFolder) -> Iterator[str]:
    """Return a new key of a run, which is valid within the block; only its digest is stored."""
    key = secrets.token_urlsafe(_BYTES)
    redact(key)
    path = run.path / _FILE
    write_atomic(path, digest_bytes(key.encode()), mode=0o600)
    try:
        yield key
    finally:
        path.unlink(missing_ok=True)


def is_recording_key(run_path: Path, key: str) -> bool:
    """Return whether a key is that of the run in a folder."""
    try:
        digest = (run_path / _FILE).read_text(encoding="ascii")
    except OSError:
        return False
    return hmac.compare_digest(digest, digest_bytes(key.encode(errors="surrogatepass")))
