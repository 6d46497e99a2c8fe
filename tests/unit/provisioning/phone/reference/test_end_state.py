from __future__ import annotations

import io
import tarfile

import pytest

from foundation.errors import SnapshotError
from provisioning.phone.reference.end_state import select_snapshot


def archive() -> bytes:
    """Return the folder of a phone's snapshots as the Docker engine does."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, version in (("ready", ".version-aa"), ("end", ".version-bb")):
            link = tarfile.TarInfo(f"snapshots/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, version
            tar.addfile(link)
            folder = tarfile.TarInfo(f"snapshots/{version}")
            folder.type, folder.uid = tarfile.DIRTYPE, 2000
            tar.addfile(folder)
            file = tarfile.TarInfo(f"snapshots/{version}/phone.db")
            file.size, file.uid = len(version), 2000
            tar.addfile(file, io.BytesIO(version.encode()))
    return out.getvalue()


def test_single_snapshot_is_extracted_with_its_owner() -> None:
    with tarfile.open(fileobj=io.BytesIO(select_snapshot(archive(), "end"))) as tar:
        assert tar.getnames() == ["end", ".version-bb", ".version-bb/phone.db"]
        assert tar.getmember("end").linkname == ".version-bb"
        assert tar.getmember(".version-bb/phone.db").uid == 2000
        file = tar.extractfile(".version-bb/phone.db")
        assert file is not None
        assert file.read() == b".version-bb"


def test_missing_snapshot_is_an_error() -> None:
    with pytest.raises(SnapshotError, match="no snapshot 'other'"):
        select_snapshot(archive(), "other")
