"""Read the ZIP archives of office documents, and reject malicious ones."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

MAX_FILES = 4000
MAX_BYTES = 96 << 20
"""Maximum total size of all unpacked members."""
_MAX_XML_BYTES = 32 << 20
_XML = (".xml", ".rels", ".vml", ".rdf")

OOXML_MARK = "[Content_Types].xml"
"""Name of a part of every Office Open XML file; archives store names uncompressed."""


def check_archive(data: bytes) -> dict[str, bytes]:
    """Read all members of a document's archive.

    The archive's metadata is not trusted: every member is unpacked under the limit, its checksum is
    verified, and every XML part is parsed without document types, so that lenient parsers never get
    a malformed part.

    Args:
        data: the file.

    Returns:
        Contents of the members, by name.

    Raises:
        ValueError: the file is not an archive, is encrypted or too large, has two members with the
            same name, or has XML that is malformed or declares a document type.
    """
    parts: dict[str, bytes] = {}
    left = MAX_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > MAX_FILES:
                raise ValueError(f"the archive has more than {MAX_FILES} members")
            for info in archive.infolist():
                if info.filename in parts:
                    raise ValueError(f"the archive contains {info.filename} twice")
                with archive.open(info) as member:
                    parts[info.filename] = member.read(left + 1)
                left -= len(parts[info.filename])
                if left < 0:
                    raise ValueError(f"the archive unpacks to more than {MAX_BYTES} bytes")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as exc:
        raise ValueError(f"not a readable archive: {exc}") from exc
    for name, content in parts.items():
        if name.lower().endswith(_XML) and content and not name.startswith("Basic/"):
            _check_xml(name, content)
    return parts


def _check_xml(name: str, content: bytes) -> None:
    """Reject XML that is malformed, or declares a document type, which may define entities.

    It is parsed without handlers, which would be called for every tag; documents have millions.
    """
    if len(content) > _MAX_XML_BYTES:
        raise ValueError(f"{name} has more than {_MAX_XML_BYTES} bytes")
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartDoctypeDeclHandler = _refuse_document_type
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError) as exc:
        raise ValueError(f"{name} is not supported XML: {exc}") from exc


def _refuse_document_type(*_declared: object) -> None:
    raise ValueError("it declares a document type")
