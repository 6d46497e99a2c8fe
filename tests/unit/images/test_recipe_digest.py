from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from foundation.settings import Settings
from images.recipe_digest import portable_recipe_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from images.recipe import Recipe


@dataclass
class Stub:
    name: str
    values: dict[str, object] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    variant: str = "debian-12"

    def inputs(self) -> Mapping[str, object]:
        return self.values


def digest(*recipes: Stub) -> str:
    known = {recipe.name: recipe for recipe in recipes}

    def make(name: str, _settings: Settings) -> Recipe:
        return cast("Recipe", known[name])

    return portable_recipe_digest(recipes[0].name, Settings(), make)


def test_appliance_key_does_not_count() -> None:
    first = digest(Stub("desktop", {"files": "1", "authorized_key": "a"}))
    assert first == digest(Stub("desktop", {"files": "1", "authorized_key": "b"}))
    assert first != digest(Stub("desktop", {"files": "2", "authorized_key": "a"}))


def test_dependencies_of_a_recipe_count() -> None:
    top = Stub("container", {"files": "1"}, ("desktop",))
    first = digest(top, Stub("desktop", {"files": "1"}))
    assert first == digest(top, Stub("desktop", {"files": "1"}))
    assert first != digest(top, Stub("desktop", {"files": "2"}))
    assert first != digest(top, Stub("desktop", {"files": "1"}, variant="ubuntu-24.04"))
