"""Read PDFs with pypdf."""

from __future__ import annotations

import io

from evaluators.readers.model import Pdf

MAX_PAGES = 500


def read_pdf(data: bytes) -> Pdf:
    """Read the texts, form fields and title of a PDF.

    Raises:
        Exception: whatever pypdf raises for a broken file; repairs are not tried.
        ValueError: it is encrypted, or has more than 500 pages.
    """
    import pypdf  # noqa: PLC0415 - only in the reader's process

    reader = pypdf.PdfReader(io.BytesIO(data), strict=True)
    if reader.is_encrypted:
        raise ValueError("the PDF is encrypted")
    if len(reader.pages) > MAX_PAGES:
        raise ValueError(f"the PDF has more than {MAX_PAGES} pages")
    fields = {
        name: "" if field.value is None else str(field.value)
        for name, field in (reader.get_fields() or {}).items()
    }
    title = reader.metadata.title if reader.metadata is not None else None
    return Pdf(tuple(page.extract_text() for page in reader.pages), fields, title or "")
