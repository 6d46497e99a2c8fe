from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pycdlib
import pytest

from images.cloud.seed import Seed, pack
from images.desktop.recipe import read_packages
from images.distribution import DISTRIBUTIONS

GOLDEN = Path(__file__).resolve().parents[3] / "golden"


@pytest.fixture
def recipe(tmp_path: Path) -> dict[str, Path]:
    for name in ("answer.sh", "prepare.sh", "firefox.pref"):
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "files/deep").mkdir(parents=True)
    (tmp_path / "files/deep/one.conf").write_text("one\n")
    return {
        "install.sh": tmp_path / "answer.sh",
        "prepare.sh": tmp_path / "prepare.sh",
        "firefox.pref": tmp_path / "firefox.pref",
        "files": tmp_path / "files",
    }


def seed_of(name: str, recipe: dict[str, Path]) -> Seed:
    distribution = DISTRIBUTIONS[name]
    return Seed(
        instance_id=f"mesocosm-{name}-cloud",
        hostname="mesocosm-desktop",
        packages=[*read_packages(distribution), distribution.kernel, "firefox"],
        recipe=recipe,
        mirror="http://ubuntu.test/ubuntu",
        firefox=("http://mozilla.test/apt", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nKEY\n"),
    )


@pytest.mark.parametrize("name", ["ubuntu-22.04", "ubuntu-24.04"])
def test_user_data_is_exactly_this(name: str, recipe: dict[str, Path]) -> None:
    golden = GOLDEN / f"user-data-{name}.yaml"
    assert seed_of(name, recipe).user_data() == golden.read_text()


def test_seed_image_has_the_label_and_files_that_cloud_init_expects(
    recipe: dict[str, Path], tmp_path: Path
) -> None:
    seed = seed_of("ubuntu-24.04", recipe)
    seed.write(tmp_path / "seed.iso")

    iso = pycdlib.PyCdlib()
    iso.open(str(tmp_path / "seed.iso"))
    contents = {}
    for way in ("rr_path", "joliet_path"):
        for name in ("user-data", "meta-data", "network-config", "recipe.tar"):
            out = io.BytesIO()
            iso.get_file_from_iso_fp(out, **{way: f"/{name}"})
            contents[way, name] = out.getvalue()
    label = iso.pvd.volume_identifier.decode().strip()
    iso.close()

    assert label == "CIDATA"
    for way in ("rr_path", "joliet_path"):
        assert contents[way, "user-data"].decode() == seed.user_data()
        assert b"instance-id: mesocosm-ubuntu-24.04-cloud" in contents[way, "meta-data"]
        assert b"dhcp4: true" in contents[way, "network-config"]
        assert contents[way, "recipe.tar"] == pack(recipe)


def test_packed_recipe_is_reproducible(recipe: dict[str, Path]) -> None:
    first = pack(recipe)
    (recipe["files"] / "deep/one.conf").touch()
    assert pack(recipe) == first
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        names = tar.getnames()
        member = tar.extractfile("files/deep/one.conf")
        assert member is not None
        assert member.read() == b"one\n"
        assert {(info.uid, info.mtime) for info in tar} == {(0, 0)}
    assert names == [
        "files",
        "files/deep",
        "files/deep/one.conf",
        "firefox.pref",
        "install.sh",
        "prepare.sh",
    ]


def test_no_archive_is_queried_without_packages(tmp_path: Path) -> None:
    script = tmp_path / "answer.sh"
    script.write_text("true\n")
    user_data = Seed("one", "guest", (), {"install.sh": script}).user_data()
    assert "package_update: false" in user_data
    assert "packages: []" in user_data
    assert "preserve_sources_list: true" in user_data
    assert "prepare.sh" not in user_data
