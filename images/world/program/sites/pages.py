"""Pages from templates, and what forms contain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from starlette.requests import Request

_MAX_FORM_BYTES = 1 << 16
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page; all values are escaped."""
    html = _TEMPLATES.get_template(template).render(**values)
    return HTMLResponse(html, status_code=status)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a field that is there twice, the last one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            return {}
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
