"""The emulator's image: the scripts run with fake programs that log their arguments."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
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
# Each logs its arguments and does the minimum that the script waits for. `FAULT` makes one of them fail
# as the real programs have.
PROGRAMS = {
    "adb": """
case "$*" in
    *boot_completed*) [ "$FAULT" = stale ] && [ ! -e "$LOGS/tried" ] && { touch "$LOGS/tried"; sleep 60; }
        [ "$FAULT" != dead ] && [ -e "$LOGS/emulator" ] && echo 1;;
    *"getprop debug.mesocosm.saved"*) [ "$FAULT" = cold ] || cat "$MESOCOSM_DATA/marker";;
    *"cat >>"*) [ "$FAULT" = locked ] || cat >> "$LOGS/key";;
    *"cat /data/misc"*) cat "$LOGS/key" 2>/dev/null;;
    *"uiautomator dump"*) echo "<hierarchy></hierarchy>";;
    *"snapshot save"*) if [ "$FAULT" = refused ]; then echo "KO: no space"; else echo OK; fi;;
    *"snapshot list"*) [ "$FAULT" = forgotten ] || echo "--        mesocosm"; echo OK;;
esac
""",
    "avdmanager": 'cat >/dev/null; mkdir -p "$ANDROID_AVD_HOME/mesocosm.avd"; touch "$ANDROID_AVD_HOME/mesocosm.ini"',
    # It runs until a signal; a lock stops the next one.
    "emulator": """
[ "$FAULT" = dead ] && { echo "FATAL: no display"; exit 1; }
lock=$ANDROID_AVD_HOME/mesocosm.avd/hardware-qemu.ini.lock
[ -e "$lock" ] && { echo "another emulator has the lock"; exit 1; }
mkdir -p "${lock%/*}"; touch "$lock"
if [ "$FAULT" = deaf ]; then trap '' TERM; else trap 'exit 0' TERM; fi
[ "${ENDS:-0}" = 1 ] && { sleep 1.5; exit 0; }
while :; do sleep 0.1; done
""",
    "socat": 'touch "$LOGS/open"',
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
    (tmp_path / "saved").mkdir()
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
        "MESOCOSM_DATA": str(stage / "data"),
        "MESOCOSM_SAVED": str(stage / "saved"),
        "SYSTEM_IMAGE": IMAGE,
        "DEVICE": "pixel_6",
        "FAULT": "",
        # An emulator of the tests ends by itself after it has started.
        "MESOCOSM_STOP_S": "1",
        "MESOCOSM_TRY_S": "1",
        "MESOCOSM_BOOT_S": "10",
        **environment,
    }
    result = run(["/bin/sh", str(SCRIPTS / script)], timeout_s=30, env=env)
    assert (result.exit_code != 0) == fails, result
    texts = {path.name: path.read_text() for path in sorted(logs.iterdir())}
    # Repeated until they succeed.
    lines = texts.get("adb", "").splitlines(keepends=True)
    texts["adb"] = "".join(dict.fromkeys(line for line in lines if "reconnect" not in line))
    # The two relays start in parallel.
    texts["socat"] = "".join(sorted(texts.get("socat", "").splitlines(keepends=True)))
    log_text = "".join(texts[name] for name in sorted(texts))
    log_text = re.sub(r"saved [0-9a-f-]{36}", "saved MARKER", log_text)
    return log_text.replace(str(stage), "STAGE") + result.text + result.stderr.decode()


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


def prepare(stage: Path, fault: str = "", *, fails: bool = False) -> str:
    apks = stage / "apks"
    apks.mkdir()
    (apks / "my app.apk").write_bytes(b"apk")
    env = {"APKS": str(apks), "FAULT": fault}
    return perform(stage, "prepare.sh", env, fails=fails)


def start(stage: Path, fault: str = "") -> str:
    """Start what was prepared; the emulator of the tests ends by itself, which is an error."""
    secrets = {"MESOCOSM_ADB_KEYS": "QAAA key", "MESOCOSM_CONSOLE_TOKEN": "t0ken"}
    env = secrets | {"FAULT": fault, "ENDS": "1"}
    return perform(stage, "entrypoint.sh", env, fails=True)


def test_sdk_has_the_folder_that_the_emulator_demands(stage: Path) -> None:
    (stage / "tmp").mkdir()
    perform(stage, "install.sh", installing(TMPDIR=str(stage / "tmp")))
    assert (stage / "sdk/platforms").is_dir()


@pytest.mark.slow
def test_preparing_boots_installs_saves_and_packs(stage: Path) -> None:
    golden("android-prepare.txt", prepare(stage))
    with tarfile.open(stage / "saved/saved.tar") as archive:
        names = archive.getnames()
    assert {"avd/mesocosm.avd", "avd/mesocosm.ini", "home/.android", "marker"} <= set(names)
    assert [name for name in names if name.endswith(".lock")] == []


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("dead", "The emulator ended before Android had booted"),
        ("refused", "The console refused 'avd snapshot save mesocosm': KO: no space"),
        ("forgotten", "The saved snapshot is not listed"),
    ],
)
@pytest.mark.slow
def test_failed_preparation_names_the_cause_and_leaves_no_archive(
    stage: Path, fault: str, cause: str
) -> None:
    assert cause in prepare(stage, fault, fails=True)
    assert not (stage / "saved/saved.tar").exists()


@pytest.mark.slow
def test_emulator_that_ignores_the_signal_to_end_is_killed(stage: Path) -> None:
    prepare(stage, "deaf")
    assert (stage / "saved/saved.tar").exists()


@pytest.mark.slow
def test_key_is_added_before_the_ports_are_opened(stage: Path) -> None:
    prepare(stage)
    golden("android-start.txt", start(stage))
    token = stage / "data/home/.emulator_console_auth_token"
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("t0ken", 0o600)


@pytest.mark.slow
def test_prepare_and_start_share_their_options(stage: Path) -> None:
    lines = [
        line.removesuffix(last)
        for output, last in (
            (prepare(stage), " -no-snapshot-load"),
            (start(stage), " -snapshot mesocosm"),
        )
        for line in output.splitlines()
        if line.startswith("emulator ")
    ]
    assert lines[0] == lines[1]
    assert "-no-snapshot-save" in lines[0]
    assert "-gpu swiftshader_indirect" in lines[0]


@pytest.mark.slow
def test_stale_lock_is_removed_and_the_saved_device_is_unpacked_once(stage: Path) -> None:
    prepare(stage)
    avd = stage / "data/avd/mesocosm.avd"
    (avd / "hardware-qemu.ini.lock").touch()
    start(stage)
    (avd / "changed").touch()
    (avd / "hardware-qemu.ini.lock").touch()
    assert "the lock" not in start(stage)
    assert (avd / "changed").exists()


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("cold", "it started cold, so its state is not the saved one"),
        ("dead", "The emulator ended before Android answered"),
        ("locked", "The appliance's key could not be added"),
    ],
)
@pytest.mark.slow
def test_phone_that_is_not_the_saved_one_opens_no_port(stage: Path, fault: str, cause: str) -> None:
    prepare(stage)
    assert cause in start(stage, fault)
    assert not (stage / "logs-entrypoint.sh/open").exists()


@pytest.mark.slow
def test_stale_connection_is_tried_again(stage: Path) -> None:
    prepare(stage)
    start(stage, "stale")
    assert (stage / "logs-entrypoint.sh/open").exists()


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
    monkeypatch.setattr(android, "require_cpu", lambda: "")
    recipe = AndroidRecipe(Settings(accept_android_sdk_licence=True), kvm=tmp_path / "none")
    with pytest.raises(RequirementError, match="reference phone"):
        recipe.build(tmp_path, ignore_progress, {})


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
