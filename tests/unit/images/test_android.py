"""The emulator's image: the scripts run with fake programs that log their arguments."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from foundation.errors import ImageBuildError, RequirementError
from foundation.process import run
from foundation.settings import Settings
from images.android import recipe as android
from images.android.recipe import AndroidRecipe
from images.catalog import NAMES, ON_REQUEST, make_recipe
from images.log import ignore_progress

GOLDEN = Path(__file__).parents[2] / "golden"
SCRIPTS = Path(android.__file__).parent
ARCHIVE = b"an archive"
IMAGE = "system-images;android-34;google_apis;x86_64"
# Each writes its arguments to its own log and does the minimum that the script waits for.
PROGRAMS = {
    "adb": 'case "$*" in *boot_completed*) echo 1;; *"cat >>"*) cat >> "$LOGS/key";; esac',
    "emulator": "",
    "socat": "",
    "sdkmanager": "",
    "curl": 'while [ "$1" != --output ]; do shift; done; printf "an archive" > "$2"',
    "unzip": 'while [ "$1" != -d ]; do shift; done; mkdir -p "$2/cmdline-tools"',
}


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    """Return a folder with the programs, their logs, and a system image of revision 14."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, body in PROGRAMS.items():
        path = programs / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "$LOGS/{name}"\n{body}\n')
        path.chmod(0o755)
    image = tmp_path / "sdk" / IMAGE.replace(";", "/")
    image.mkdir(parents=True)
    (image / "source.properties").write_text("Pkg.Desc=x\nPkg.Revision=14\n")
    return tmp_path


def perform(stage: Path, script: str, environment: dict[str, str], *, fails: bool = False) -> str:
    """Run a script and return the arguments of each program, sorted by name."""
    logs = stage / f"logs-{script}"
    logs.mkdir(exist_ok=True)
    env = {
        "PATH": f"{stage / 'bin'}:{os.environ['PATH']}",
        "HOME": str(stage),
        "LOGS": str(logs),
        "ANDROID_HOME": str(stage / "sdk"),
        **environment,
    }
    result = run(["/bin/sh", str(SCRIPTS / script)], timeout_s=30, env=env)
    assert (result.exit_code != 0) == fails, result
    texts = {path.name: path.read_text() for path in sorted(logs.iterdir())}
    # The two relays start in parallel.
    texts["socat"] = "".join(sorted(texts.get("socat", "").splitlines(keepends=True)))
    log_text = "".join(texts[name] for name in sorted(texts))
    return log_text.replace(str(stage), "STAGE") + result.text


def golden(name: str, output: str) -> None:
    assert output == (GOLDEN / name).read_text()


def installing(**changed: str) -> dict[str, str]:
    return {
        "TOOLS_ADDRESS": "https://example.org/tools.zip",
        "TOOLS_SHA256": hashlib.sha256(ARCHIVE).hexdigest(),
        "SYSTEM_IMAGE": IMAGE,
        "SYSTEM_IMAGE_REVISION": "14",
        "TMPDIR": "",
        **changed,
    }


def test_pinned_versions_are_installed(stage: Path) -> None:
    (stage / "tmp").mkdir()
    output = perform(stage, "install.sh", installing(TMPDIR=str(stage / "tmp")))
    lines = [line for line in output.splitlines() if line.startswith("sdkmanager")]
    assert lines == [
        "sdkmanager --licenses",
        f"sdkmanager --install platform-tools emulator {IMAGE}",
    ]
    assert "https://example.org/tools.zip" in output
    assert list((stage / "tmp").iterdir()) == []


def test_unpinned_archive_is_rejected_before_it_is_unpacked(stage: Path) -> None:
    output = perform(stage, "install.sh", installing(TOOLS_SHA256="0" * 64), fails=True)
    assert "unzip" not in output
    assert "sdkmanager" not in output


def test_unpinned_revision_of_the_system_image_is_rejected(stage: Path) -> None:
    output = perform(stage, "install.sh", installing(SYSTEM_IMAGE_REVISION="15"), fails=True)
    assert "has revision 14, pinned is 15" in output


def test_preparing_boots_installs_and_saves(stage: Path) -> None:
    apks = stage / "apks"
    apks.mkdir()
    (apks / "my app.apk").write_bytes(b"apk")
    golden("android-prepare.txt", perform(stage, "prepare.sh", {"APKS": str(apks)}))


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("android-start.txt", {}),
        (
            "android-start-fork.txt",
            {"MESOCOSM_EMULATOR_READ_ONLY": "1", "MESOCOSM_EMULATOR_GPU": "host"},
        ),
    ],
)
def test_key_is_added_before_the_ports_are_opened(
    stage: Path, name: str, environment: dict[str, str]
) -> None:
    secrets = {"MESOCOSM_ADB_KEYS": "QAAA key", "MESOCOSM_CONSOLE_TOKEN": "t0ken"}
    golden(name, perform(stage, "entrypoint.sh", secrets | environment))
    token = stage / ".emulator_console_auth_token"
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("t0ken", 0o600)


# --- the recipe ---


def built(settings: Settings, tmp_path: Path) -> None:
    AndroidRecipe(settings).build(tmp_path, ignore_progress, {})


def test_emulator_is_built_only_on_request() -> None:
    assert "android" in ON_REQUEST
    assert "android" not in NAMES
    assert make_recipe("android", Settings()).variant == "android-34"


def test_nothing_is_fetched_without_the_licence(tmp_path: Path) -> None:
    with pytest.raises(RequirementError, match="--accept-android-sdk-licence"):
        built(Settings(), tmp_path)


def test_missing_kvm_suggests_the_reference_phone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(android, "KVM", tmp_path / "none")
    with pytest.raises(RequirementError, match="reference phone"):
        built(Settings(accept_android_sdk_licence=True), tmp_path)


def test_accepting_the_licence_changes_no_digest() -> None:
    asked = AndroidRecipe(Settings(accept_android_sdk_licence=True)).inputs()
    assert asked == AndroidRecipe(Settings()).inputs()


def test_apks_must_match_their_checksums(tmp_path: Path) -> None:
    recipe = AndroidRecipe(Settings(android_apks_dir=tmp_path))
    with pytest.raises(ImageBuildError, match="has no SHA256SUMS"):
        recipe.inputs()
    (tmp_path / "a.apk").write_bytes(b"one")
    digest = hashlib.sha256(b"one").hexdigest()
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{digest}  a.apk\n")
    assert recipe.inputs()["apks"] == {"a.apk": digest}
    (tmp_path / "b.apk").write_bytes(b"two")
    with pytest.raises(ImageBuildError, match=r"b\.apk does not match its checksum"):
        recipe.inputs()
    sums.write_text(f"{digest}  a.apk\n{digest}  b.apk\n")
    with pytest.raises(ImageBuildError, match=r"b\.apk does not match its checksum"):
        recipe.inputs()
    (tmp_path / "b.apk").unlink()
    with pytest.raises(ImageBuildError, match=r"does not contain b\.apk"):
        recipe.inputs()
