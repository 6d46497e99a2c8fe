"""Each requirement of the emulator is refused with its cause, before anything is fetched."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from docker.errors import ContainerError

from foundation.errors import RequirementError
from foundation.settings import Settings
from images.android import requirements
from images.android.recipe import AndroidRecipe
from images.recipe import DemandingRecipe

if TYPE_CHECKING:
    from collections.abc import Mapping

FLAGS = "fpu lm ssse3 sse4_1 sse4_2 popcnt"


def test_licence_is_needed() -> None:
    with pytest.raises(RequirementError, match="licence of Google's Android SDK"):
        requirements.require_licence(Settings())
    assert requirements.require_licence(Settings(accept_android_sdk_licence=True))


@pytest.mark.parametrize("missing", ["lm", "ssse3", "popcnt"])
def test_cpu_needs_the_instructions_of_the_system_image(tmp_path: Path, missing: str) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"model name\t: A CPU\nflags\t\t: {FLAGS}\n\n")
    assert requirements.require_cpu(cpuinfo) == "A CPU"
    cpuinfo.write_text(f"model name\t: A CPU\nflags\t\t: {FLAGS.replace(missing, '')}\n")
    with pytest.raises(RequirementError, match=missing):
        requirements.require_cpu(cpuinfo)


def test_cpu_of_another_architecture_is_refused(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("CPU implementer\t: 0x41\nFeatures\t: fp asimd\n")
    with pytest.raises(RequirementError, match="another architecture"):
        requirements.require_cpu(cpuinfo)


def test_memory_of_one_phone_and_the_host_is_needed(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal:       {9000 << 10} kB\n")
    assert requirements.require_memory(meminfo) == "9000 MiB"
    meminfo.write_text(f"MemTotal:       {8000 << 10} kB\n")
    with pytest.raises(RequirementError, match="8192 MiB of memory; this host has 8000 MiB"):
        requirements.require_memory(meminfo)


def test_disk_of_the_engine_is_measured_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Path] = []

    def usage(path: Path) -> Any:  # noqa: ANN401 - as shutil's
        measured.append(path)
        return SimpleNamespace(free=20 << 30)

    monkeypatch.setattr("shutil.disk_usage", usage)
    folder = tmp_path / "docker/not yet"
    with pytest.raises(RequirementError, match="30 GiB of free space in the engine's folder"):
        requirements.require_disk(folder, 30 << 30, "the engine's folder")
    assert measured == [tmp_path]
    assert "20 GiB" in requirements.require_disk(folder, 10 << 30, "the engine's folder")


def test_kvm_is_tried_as_the_user_of_a_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mapping[str, Any]] = []

    class Client:
        def run(self, image: str, **options: Any) -> None:  # noqa: ANN401 - the SDK's
            asked.append(options)
            raise ContainerError(
                cast("Any", None), 2, "sh", image, "cannot open: Permission denied"
            )

        def close(self) -> None:
            """Do nothing."""

    client = Client()
    client.containers = client  # type: ignore[attr-defined]
    monkeypatch.setattr("images.engine.open_client", lambda _timeout_s: client)
    with pytest.raises(RequirementError, match="user of a phone's container cannot open"):
        requirements.require_kvm_inside("base:1", Path("/dev/null"))
    assert asked[0]["user"] == "2000"
    assert asked[0]["cap_drop"] == ["ALL"]
    assert asked[0]["devices"] == ["/dev/null:/dev/null:rw"]


def test_recipe_names_all_requirements(tmp_path: Path) -> None:
    recipe = AndroidRecipe(Settings(state_dir=tmp_path), kvm=tmp_path / "none")
    assert isinstance(recipe, DemandingRecipe)
    assert list(recipe.requirements()) == [
        "licence",
        "cpu",
        "memory",
        "kvm",
        "engine disk",
        "state disk",
    ]
    with pytest.raises(RequirementError, match="requires KVM"):
        recipe.requirements()["kvm"]()
    assert AndroidRecipe(Settings(), kvm=None).try_kvm("base") == "needs no KVM"
