"""The table of families, and which family a model belongs to."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from controller.models.families.anthropic_computer import (
    ANTHROPIC_20250124,
    ANTHROPIC_20251124,
    ANTHROPIC_TOOLSET,
)
from controller.models.families.google_computer import GOOGLE_COMPUTER
from controller.models.families.gta1 import GTA1
from controller.models.families.openai_computer import OPENAI_COMPUTER, OPENAI_COMPUTER_PREVIEW
from controller.models.families.opencua import OPENCUA
from controller.models.families.qwen import QWEN3_VL
from controller.models.families.reading import TEXTS
from controller.models.families.showui import SHOWUI
from controller.models.families.ui_tars import UI_TARS
from controller.specification.agent import TOOLS
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from controller.models.families.family import Family

AUTO = "auto"
"""Asks for the family of the model by its name."""

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        OPENAI_COMPUTER,
        OPENAI_COMPUTER_PREVIEW,
        ANTHROPIC_20250124,
        ANTHROPIC_20251124,
        ANTHROPIC_TOOLSET,
        GOOGLE_COMPUTER,
        QWEN3_VL,
        UI_TARS,
        OPENCUA,
        SHOWUI,
        GTA1,
    )
}
"""Families by name; other packages may add theirs."""


def find_family(name: str) -> Family:
    """Return a family by name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in FAMILIES:
        raise UnknownNameError.of("model family", name, [TOOLS, AUTO, *FAMILIES])
    return FAMILIES[name]


def require_acting(name: str) -> None:
    """Verify that models of a family choose actions.

    Raises:
        UnknownNameError: there is no such family.
        UsageError: they only name places.
    """
    if name != TOOLS and not find_family(name).acts:
        raise UsageError(
            f"Models of the family {name!r} name places; they choose no actions.",
            resolution="Choose another model for the agent, and check this one with "
            "`mesocosm model check`.",
        )


def choose_family(name: str, adapter: str, model: str) -> str:
    """Return the name of the family that settings choose.

    Args:
        name: a family, `TOOLS` or `AUTO`.
        adapter: name of the adapter.
        model: name of the model.

    Raises:
        UnknownNameError: there is no such family.
        UsageError: the adapter does not carry the family, or no family is known for the model.
    """
    if name == TOOLS:
        return TOOLS
    if name == AUTO:
        name = _family_of(adapter, model)
    family = find_family(name)
    if adapter not in family.adapters:
        raise UsageError(
            f"The adapter {adapter!r} does not carry the family {name!r}.",
            details=f"Its adapters: {', '.join(sorted(family.adapters))}.",
            resolution="Set MESOCOSM_MODEL_ADAPTER or --model-adapter to one of them.",
        )
    return name


def family_texts(name: str) -> tuple[str, ...]:
    """Return all texts of a family, for the digest of prompts; none for `TOOLS`."""
    return () if name == TOOLS else (*TEXTS, *find_family(name).declaration.texts)


def _family_of(adapter: str, model: str) -> str:
    rows = _models().get(adapter, {})
    plain = model.rpartition("/")[2].lower()
    matches = [pattern for pattern in rows if fnmatchcase(plain, pattern)]
    if not matches:
        raise UsageError(
            f"No family is known for the model {model!r} of the adapter {adapter!r}.",
            resolution=f"Name one: {', '.join((TOOLS, *FAMILIES))}.",
        )
    return rows[max(matches, key=len)]


@cache
def _models() -> dict[str, dict[str, str]]:
    rows: dict[str, dict[str, str]] = yaml.safe_load(
        (Path(__file__).parent / "models.yaml").read_text()
    )
    return rows
