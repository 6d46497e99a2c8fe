"""``mesocosm model``: check a model before it plays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, print_json, say
from appliance.cli.run_options import BaseUrl, Model, ModelAdapter, ModelFamily
from foundation.errors import MesocosmError, RequirementError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.models.checking.format_check import FormatCheck, PlaceReport

QuickOption = Annotated[
    bool, typer.Option("--quick", help="Only ask one question, as the preflight of a run does.")
]

_STATES = {True: "ok", False: "NOT OK", None: "not done"}


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = make_group(no_args_is_help=True, help="Check models.")
    group.command("check")(check)
    app.add_typer(group, name="model")


def check(
    model: Model = None,
    model_adapter: ModelAdapter = None,
    model_family: ModelFamily = None,
    base_url: BaseUrl = None,
    quick: QuickOption = False,
    json: JsonOption = False,
) -> None:
    """Check a model: its endpoint, pictures, calls, and the places that it names.

    It is asked for nine squares on each of two screens, to scroll, and to click with a key held down:
    21 requests. Exit code 3 if it does not answer in its format, if the median error of places is above
    2 % of the width, or if it scrolls the wrong way. A model that does not scroll, or clicks without the
    key, did not do what was asked: this is shown, and not refused.
    """
    from controller.models.adapters import require_model
    from controller.models.checking.format_check import FormatCheck
    from controller.models.checking.preflight import require_listening
    from controller.models.specification import read_settings

    settings = require_model(
        read_settings(name=model, adapter=model_adapter, family=model_family, base_url=base_url)
    )
    require_listening(settings)
    checks = FormatCheck(settings)
    if not json:
        say(
            f"{settings.name} at {settings.endpoint}: adapter {settings.adapter}, format {settings.family}"
        )
    rows: list[dict[str, Any]] = []
    fault: MesocosmError | None = None
    try:
        for row in _rows(checks, quick=quick):
            rows.append(row)
            if not json:
                say(f"{row['check']}: {_STATES[row['ok']]}, {row['detail']}")
    except MesocosmError as exc:  # shown in full below, with what helps against it
        fault = exc
        rows.append(_row("answer", ok=False, detail=f"{exc.brief} {exc.details}".strip()))
    if json:
        usd = checks.usage.usd if _has_prices(checks) else None
        spent = {**checks.usage.to_dict(), "usd": usd}
        print_json(
            {"model": settings.name, "family": settings.family, "checks": rows, "usage": spent}
        )
    else:
        say(f"usage: {_spent(checks)}")
    if fault is not None:
        raise fault
    if wrong := [row["check"] for row in rows if row["ok"] is False]:
        raise RequirementError(
            f"The model {settings.name!r} failed: {', '.join(wrong)}.",
            resolution="Check that the family is the model's (--model-family), and that its server does "
            "not resize pictures.",
        )


def _rows(checks: FormatCheck, *, quick: bool) -> Iterator[dict[str, Any]]:
    from controller.models.checking.format_check import SIZES

    yield _row("format", ok=True, detail=checks.require_format())
    if quick:
        return
    for size in SIZES:
        report = checks.check_places(size)
        yield _row(f"places {size.width}x{size.height}", report.is_accurate, _described(report))
    if not checks.family.acts:
        return
    direction = checks.check_scroll()
    words = {
        True: "down, as asked",
        False: "up, although asked for down",
        None: "did not scroll",
    }
    yield _row("scroll", direction, words[direction])
    has_held = checks.check_modifier()
    yield _row("modifier click", has_held or None, "with ctrl" if has_held else "without the key")


def _has_prices(checks: FormatCheck) -> bool:
    return any(checks.settings.prices)


def _row(name: str, ok: bool | None, detail: str) -> dict[str, Any]:
    return {"check": name, "ok": ok, "detail": detail}


def _described(report: PlaceReport) -> str:
    missed = sum(math.isinf(error) for error in report.errors_px)
    error = f"{report.median_px:.1f} px" if math.isfinite(report.median_px) else "infinite"
    text = f"median error {error} (limit {report.limit_px:.1f}), sent as {report.sent.width}x{report.sent.height}"
    if not missed:
        return text
    return f"{text}; {missed} of {len(report.errors_px)} without a place: {report.faults[0]}"


def _spent(checks: FormatCheck) -> str:
    usage = checks.usage
    tokens = f"{usage.total} tokens" if usage.is_known else "tokens not reported"
    price = f"{usage.usd:.4f} US dollars" if _has_prices(checks) else "no price is known"
    return f"{tokens}, {price}"
