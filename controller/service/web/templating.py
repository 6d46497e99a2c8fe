"""Rendering of the pages' templates, with automatic escaping."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from provisioning.protocols import Json


def page(name: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page.

    Args:
        name: name of the template, without its suffix.
        status: status code of the reply.
        values: variables of the template.
    """
    return HTMLResponse(render(name, **values), status_code=status)


def render(name: str, **values: object) -> str:
    """Render a template.

    Args:
        name: name of the template, without its suffix.
        values: variables of the template.
    """
    return _environment().get_template(f"{name}.html.j2").render(**values)


def moment(seconds: float | None) -> str:
    """Format a time as UTC to the second; None as a dash."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float | None) -> str:
    """Format a duration as h:mm:ss or m:ss; None as a dash."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def percent(ratio: float | None) -> str:
    """Format a ratio as a percentage; None as a dash."""
    return "-" if ratio is None else f"{100 * ratio:.1f} %"


def one_line(value: Json) -> str:
    """Format a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("controller.service.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "moment": moment,
        "duration": duration,
        "percent": percent,
        "one_line": one_line,
    }
    return environment
