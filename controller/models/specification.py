"""Convert a model's settings to a run's specification without secrets, and back."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from controller.models.adapters import find_adapter
from controller.models.families.table import AUTO, choose_family, find_family
from controller.models.key_file import read_key
from controller.models.prices import find_price
from controller.models.settings import ModelSettings
from controller.specification.agent import TOOLS, ModelClientSpec, ModelSpec, Sampling
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError, SettingsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.specification.agent import RegisteredSpec

_SAME = (
    "adapter",
    "family",
    "history",
    "pictures",
    "timeout_s",
    "retries",
    "outage_s",
    "usd_per_mtok_prompt",
    "usd_per_mtok_completion",
    "usd_per_mtok_cached",
    "extra",
    "image_scale",
    "send_seed",
)
"""Settings that have the same name in a specification."""

_SAMPLING = tuple(Sampling.model_fields)


_PRICES = {"usd_per_mtok_prompt", "usd_per_mtok_completion", "usd_per_mtok_cached"}


def read_settings(**chosen: object) -> ModelSettings:
    """Read a model's settings from the environment.

    What they leave to the adapter, the family and the price table is filled in, without counting as a
    choice of the user (`model_fields_set`).

    Args:
        chosen: fields that override the environment; None keeps the environment's value. ``key`` names
            the environment variable with the key.

    Raises:
        RequirementError: the variable of the key is not set.
        SettingsError: a variable has an invalid value, MESOCOSM_MODEL_EXTRA has a field that the agent
            sets, or the file of the key is not safe.
        SpecError: the price table is invalid.
        UnknownNameError: there is no such adapter or family.
        UsageError: the adapter does not carry the family, or no family is known for the model.
    """
    values: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if variable := values.pop("key", None):
        values["api_key"] = _read_variable(variable)
    settings = ModelSettings(**values)
    if taken := sorted(find_adapter(settings.adapter).own_fields & settings.extra.keys()):
        raise SettingsError(
            "MESOCOSM_MODEL_EXTRA is invalid.", details=f"{', '.join(taken)} cannot be set here"
        )
    return _filled(settings)


def _read_variable(name: str) -> SecretStr:
    key = os.environ.get(name, "")
    if not key:
        raise RequirementError(
            f"The model needs a key, but {name} is not set.",
            resolution=f"Set the environment variable {name}.",
        )
    return SecretStr(key)


def _filled(settings: ModelSettings) -> ModelSettings:
    """Return settings with the defaults that depend on others."""
    values = dict(settings)
    values["base_url"] = settings.base_url or find_adapter(settings.adapter).default_url
    if settings.api_key_file is not None and not settings.api_key.get_secret_value():
        values["api_key"] = read_key(settings.api_key_file)
    if settings.family != AUTO or settings.name:
        values["family"] = choose_family(settings.family, settings.adapter, settings.name)
    if values["family"] not in {TOOLS, AUTO}:
        history = find_family(values["family"]).history
        defaults = {"history": history.turns, "pictures": history.pictures}
        values |= {k: v for k, v in defaults.items() if k not in settings.model_fields_set}
    if settings.name and not _PRICES & settings.model_fields_set:
        day = datetime.fromtimestamp(SYSTEM_CLOCK.now_s(), UTC).date()
        price = find_price(settings.name, values["base_url"], day, settings.price_table)
        if price is not None:
            values["usd_per_mtok_prompt"] = price.input
            values["usd_per_mtok_completion"] = price.output
            values["usd_per_mtok_cached"] = price.cached
    return ModelSettings.model_construct(_fields_set=settings.model_fields_set, **values)


def specify_model(settings: ModelSettings, prompt_digest: str) -> ModelSpec:
    """Return the settings of a model that can affect a score, without secrets."""
    return ModelSpec(
        model=settings.name,
        endpoint=settings.endpoint,
        sampling=Sampling(**{name: getattr(settings, name) for name in _SAMPLING}),
        **{name: getattr(settings, name) for name in _SAME},
        prompt_digest=prompt_digest,
    )


def specified_settings(spec: ModelClientSpec, chosen: ModelSettings) -> ModelSettings:
    """Return the settings of a specified model.

    Args:
        spec: the model's specification.
        chosen: current settings; they provide the secrets, the specification everything else.

    Raises:
        UsageError: the current settings explicitly specify another model, endpoint or parameter.
    """
    specified = _values(spec)
    present = {**_values(specify_model(chosen, "")), "base_url": chosen.endpoint}
    names = sorted(chosen.model_fields_set & specified.keys())
    if lines := [
        f"MESOCOSM_MODEL_{name.upper()}: {specified[name]!r} in the run, {present[name]!r} now"
        for name in names
        if present[name] != specified[name] and (specified[name] is not None or name in _SAMPLING)
    ]:
        raise UsageError(
            f"The current model settings differ from those of the run: {spec.model!r}.",
            details="\n".join(lines),
            resolution="Start a new run, or unset the settings that differ to use the run's own.",
        )
    update = {name: value for name, value in specified.items() if value is not None}
    if "base_url" in chosen.model_fields_set:
        del update["base_url"]  # the same, with its credentials
    return chosen.model_copy(update=update)


def registered_settings(spec: RegisteredSpec, chosen: ModelSettings) -> ModelSettings:
    """Return the settings of a registered agent's model.

    Args:
        spec: the agent's specification, which provides the model's name and address.
        chosen: current settings; they provide everything else.

    Raises:
        UsageError: the current settings explicitly specify another model or endpoint.
    """
    pairs = (
        ("adapter", chosen.adapter, spec.adapter),
        ("name", chosen.name, spec.model),
        ("base_url", chosen.endpoint, spec.endpoint),
    )
    if lines := [
        f"MESOCOSM_MODEL_{field.upper()}: {before!r} in the run, {now!r} now"
        for field, now, before in pairs
        if field in chosen.model_fields_set and now != before
    ]:
        raise UsageError(
            f"The agent {spec.name!r} used another model when the run started: {spec.model!r}.",
            details="\n".join(lines),
            resolution="Start a new run, or unset the settings that differ to use the run's own.",
        )
    update = {"adapter": spec.adapter, "name": spec.model}
    if "base_url" not in chosen.model_fields_set:
        update["base_url"] = spec.endpoint  # else the same, with its credentials
    return chosen.model_copy(update=update)


def _values(spec: ModelClientSpec) -> Mapping[str, Any]:
    """Return the values of a specification by the field names of `ModelSettings`."""
    return {
        "name": spec.model,
        "base_url": spec.endpoint,
        **spec.sampling.model_dump(),
        **{name: getattr(spec, name) for name in _SAME},
    }
