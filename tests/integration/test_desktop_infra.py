"""Tests of a desktop image and a running desktop with testinfra."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from foundation.settings import get_settings
from images.builder import find
from images.desktop.firmware import NAME
from images.desktop.recipe import DISK, HERE, read_packages
from images.distribution import DISTRIBUTIONS
from images.manifest import read_manifest
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.hosts import guest_host, image_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.recipe import Image

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]

INDEXERS = ("tracker", "baloo", "updatedb", "mlocate", "plocate", "recoll", "zeitgeist", "apt-")
ROOTS = {"/root", "/home/user"}


@pytest.fixture(scope="module")
def image() -> Image:
    return find("desktop", get_settings())


@pytest.fixture(scope="module")
def still(image: Image) -> Iterator[Any]:
    """Return the mounted image."""
    with image_host(image.file(DISK)) as host:
        yield host


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """Return a leased desktop, over SSH."""
    fleet = LocalFleet(get_settings())
    with fleet.acquire({"desktop": ResourceSpec(DESKTOP)}) as environment_lease:
        environment = environment_lease.environment
        vm: Any = environment.machines["desktop"]
        with vm.ssh(timeout_s=60.0) as session:
            yield guest_host(session)


@pytest.fixture(params=["still", "running"])
def host(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401
    """Return both hosts, one after the other."""
    return request.getfixturevalue(request.param)


def installed(host: Any) -> dict[str, str]:  # noqa: ANN401
    shown = host.check_output("dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\\n'")
    rows = (line.split() for line in shown.splitlines())
    return {name: version for name, version, status in rows if status == "installed"}


def test_every_listed_package_is_installed(host: Any, image: Image) -> None:  # noqa: ANN401
    name = image.variant.removesuffix("-cloud")
    wanted = set(read_packages(DISTRIBUTIONS[name]))
    assert wanted - set(installed(host)) == set()
    assert "snapd" not in installed(host)


def test_manifest_lists_installed_packages(host: Any, image: Image) -> None:  # noqa: ANN401
    assert dict(read_manifest(image.path).packages) == installed(host)


def test_only_the_graphics_driver_is_installed_as_firmware(
    still: Any,  # noqa: ANN401
    running: Any,  # noqa: ANN401
) -> None:
    names = {name for name in installed(still) if "firmware" in name or "microcode" in name}
    assert names <= {NAME}
    assert "bochs" in running.check_output("lsmod")


def test_agent_user_has_no_privileges(host: Any) -> None:  # noqa: ANN401
    user = host.user("user")
    assert (user.uid, user.home, user.shell) == (1000, "/home/user", "/bin/bash")
    assert not {"sudo", "adm", "root", "docker", "disk", "shadow"} & set(user.groups)
    assert user.password in {"!", "*", "!*"}
    assert host.user("root").password in {"!", "*", "!*", "!unprovisioned"}
    assert host.file("/home/user").user == "user"


def test_only_the_appliance_key_can_log_in(host: Any, image: Image) -> None:  # noqa: ANN401
    public = (get_settings().keys_dir / "ssh_ed25519.pub").read_text()
    keys = host.file("/root/.ssh/authorized_keys")
    assert keys.content_string.strip() == public.strip()
    assert (keys.mode, keys.user) == (0o600, "root")
    assert not host.file("/home/user/.ssh").exists
    own = host.file("/etc/ssh/ssh_host_ed25519_key.pub").content_string
    assert own == image.file("ssh_host_ed25519_key.pub").read_text()
    listed = host.check_output("ls /etc/ssh")
    assert re.findall(r"ssh_host_\w+", listed) == ["ssh_host_ed25519_key"] * 2


def masked(folder: str) -> list[str]:
    """Return the units that the recipe masks."""
    script = (HERE / "customize.sh").read_text().replace("\\\n", " ")
    loops = re.findall(r'for unit in ([^;]+); do\s+ln -sf /dev/null "\$root(\S+)/\$unit"', script)
    (units,) = [units for units, where in loops if where == folder]
    return str(units).split()


@pytest.mark.parametrize("folder", ["/etc/systemd/system", "/etc/systemd/user"])
def test_background_units_are_masked(host: Any, folder: str) -> None:  # noqa: ANN401
    units = masked(folder)
    assert len(units) > 10
    output = host.check_output(f"readlink {' '.join(f'{folder}/{unit}' for unit in units)}")
    assert output.splitlines() == ["/dev/null"] * len(units)


def test_daemons_of_missing_hardware_do_not_run(
    still: Any,  # noqa: ANN401
    running: Any,  # noqa: ANN401
) -> None:
    script = (HERE / "customize.sh").read_text().replace("\\\n", " ")
    (listed,) = re.findall(r"for daemon in ([^;]+); do", script)
    names = listed.split()
    assert len(names) > 10
    folder = "/etc/systemd/user"
    files = " ".join(f"{folder}/org.gnome.SettingsDaemon.{name}.service" for name in names)
    assert still.check_output(f"readlink {files}").splitlines() == ["/dev/null"] * len(names)
    # The remaining daemons serve the user: shortcuts, keyboard layouts, appearance and accessibility.
    processes = set(running.check_output("ps -eo comm=").split())
    assert {name for name in processes if name.startswith("gsd-")} == {
        *("gsd-a11y-settin", "gsd-keyboard", "gsd-media-keys", "gsd-screensaver", "gsd-xsettings")
    }
    assert "colord" not in processes


def test_root_has_no_session_of_its_own(still: Any, running: Any) -> None:  # noqa: ANN401
    assert still.check_output("readlink /etc/systemd/system/user@0.service") == "/dev/null"
    of_root = running.check_output("ps -u root -o args=").splitlines()
    assert [line for line in of_root if line.strip().endswith("systemd --user")] == []


def test_indexers_do_not_start_with_the_session(host: Any) -> None:  # noqa: ANN401
    shown = host.check_output(
        "grep -l -i -E 'tracker|baloo|zeitgeist|evolution-alarm|gnome-software|update-notifier'"
        " /etc/xdg/autostart/*.desktop | xargs -r grep -L '^Hidden=true' || true"
    )
    assert shown == ""


def test_accessibility_is_on(host: Any) -> None:  # noqa: ANN401
    defaults = host.file("/etc/dconf/db/local.d/00-mesocosm")
    assert defaults.contains("^toolkit-accessibility=true$")
    assert host.file("/etc/dconf/db/local").size > 0
    environment = host.file("/etc/environment").content_string
    for line in ("GTK_MODULES=gail:atk-bridge", "NO_AT_BRIDGE=0", "GNOME_ACCESSIBILITY=1"):
        assert line in environment.splitlines()


def test_browser_does_not_update_or_call_home(host: Any) -> None:  # noqa: ANN401
    policies = json.loads(host.file("/etc/firefox/policies/policies.json").content_string)
    firefox_policies = policies["policies"]
    assert firefox_policies["DisableAppUpdate"]
    assert firefox_policies["DisableTelemetry"]


def test_office_profile_was_created_by_the_build(host: Any) -> None:  # noqa: ANN401
    """The first document that a trial opens must not create it, as a side effect of the agent."""
    profile = "/home/user/.config/libreoffice/4/user"
    modules = {"swriter", "scalc", "simpress"}
    listed = host.check_output(f"ls {profile}/config/soffice.cfg/modules").split()
    assert modules <= set(listed)
    assert host.check_output(f"find {profile} ! -user user") == ""
    settings = host.file(f"{profile}/registrymodifications.xcu").content_string
    assert "ooSetupInstCompleted" in settings
    # Windows have the size of a fresh profile, and no notice counts days since the build.
    assert not re.search(r"WindowAttributes|WindowState|LastTime\w+Shown", settings)


def test_office_keeps_formats_without_asking(host: Any) -> None:  # noqa: ANN401
    registry = host.file("/etc/libreoffice/registry/mesocosm.xcd").content
    (asks,) = ET.fromstring(registry).iterfind(  # noqa: S314 - the image's own file
        ".//node[@oor:name='Save']/node/prop[@oor:name='WarnAlienFormat']/value",
        {"oor": "http://openoffice.org/2001/registry"},
    )
    assert asks.text == "false"


def test_locale_and_time_zone_are_set(host: Any) -> None:  # noqa: ANN401
    assert host.file("/etc/default/locale").contains("^LANG=en_US.UTF-8$")
    assert host.file("/etc/timezone").content_string == "UTC\n"
    assert "en_US.utf8" in host.check_output("locale -a").splitlines()


def test_image_has_no_traces_of_its_build(still: Any) -> None:  # noqa: ANN401
    assert still.file("/etc/machine-id").size == 0
    assert not still.file("/etc/apt/sources.list").exists
    assert still.check_output("find /var/lib/apt/lists /var/cache/apt -type f -size +0") == ""
    assert (
        still.check_output(
            "find /root /tmp /var/tmp -type f -not -name .bashrc -not -name .profile"
        )
        == "/root/.ssh/authorized_keys"
    )


def test_image_boots_into_the_session(still: Any) -> None:  # noqa: ANN401
    target = still.file("/etc/systemd/system/default.target")
    assert target.linked_to.endswith("/graphical.target")
    login = still.file("/etc/lightdm/lightdm.conf.d/50-mesocosm.conf")
    assert login.contains("^autologin-user=user$")
    assert login.contains("-nolisten tcp")


@pytest.mark.parametrize("name", ["ssh", "systemd-networkd", "lightdm", "dbus"])
def test_service_runs(running: Any, name: str) -> None:  # noqa: ANN401
    assert running.service(name).is_running


def test_no_service_failed(running: Any) -> None:  # noqa: ANN401
    failed = running.check_output("systemctl list-units --failed --plain --no-legend")
    assert failed == ""


def test_only_ssh_listens(running: Any) -> None:  # noqa: ANN401
    listening = running.socket.get_listening_sockets()
    network = {
        (socket.partition(":")[0], socket.rpartition(":")[2])
        for socket in listening
        if socket.startswith(("tcp", "udp"))
    }
    assert network == {("tcp", "22")}


def test_programs_of_a_user_cannot_debug_each_other(host: Any) -> None:  # noqa: ANN401
    sysctl_file = host.file("/etc/sysctl.d/60-mesocosm.conf")
    assert sysctl_file.contains("^kernel.yama.ptrace_scope = 2$")
    assert (sysctl_file.user, sysctl_file.mode) == ("root", 0o644)


def test_only_root_may_debug(running: Any) -> None:  # noqa: ANN401
    assert running.file("/proc/sys/kernel/yama/ptrace_scope").content_string == "2\n"
    tried = running.run(
        "runuser -u user -- sh -c 'sleep 60 & head -c 1 /proc/$!/mem; echo $?; kill $!'"
    )
    assert "Permission denied" in tried.stderr


def test_session_belongs_to_the_agent_and_can_be_read(running: Any) -> None:  # noqa: ANN401
    names = {process.comm for process in running.process.filter(user="user")}
    assert {"metacity", "gnome-panel", "at-spi2-registr", "at-spi-bus-laun"} <= names
    asked = running.check_output(
        "runuser -u user -- env DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus"
        " gsettings get org.gnome.desktop.interface toolkit-accessibility"
    )
    assert asked == "true"


def test_programs_draw_no_animations(running: Any) -> None:  # noqa: ANN401
    """Read GTK's setting, because GNOME's setting does not reach programs without GNOME Shell."""
    ask = (
        'import gi; gi.require_version("Gtk", "3.0"); from gi.repository import Gtk; '
        "print(Gtk.Settings.get_default().props.gtk_enable_animations)"
    )
    answer = running.check_output(
        "runuser -u user -- env DISPLAY=:0 XAUTHORITY=/home/user/.Xauthority"
        f" python3 -W ignore -c '{ask}'"
    )
    assert answer == "False"


def test_indexers_and_updaters_do_not_run(running: Any) -> None:  # noqa: ANN401
    names = running.check_output("ps -A -o comm=").split()
    assert [name for name in names if name.startswith(INDEXERS)] == []
    timers = running.check_output(
        "systemctl list-units --type=timer --state=active --plain --no-legend"
    )
    active = {line.split()[0] for line in timers.splitlines()}
    # systemd's cleanup of /tmp, a quarter of an hour after the boot.
    assert active - {"systemd-tmpfiles-clean.timer"} == set()


def test_guest_has_an_identity_and_no_network_access(running: Any) -> None:  # noqa: ANN401
    assert re.fullmatch(r"[0-9a-f]{32}", running.file("/etc/machine-id").content_string.strip())
    assert not running.addr("10.0.2.3").port(53).is_reachable
    assert running.run("sudo -n -u user sudo -n true").failed
