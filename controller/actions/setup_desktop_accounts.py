"""Setup operations of desktops that use a world: an account, and certificates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from controller.actions import guest_thunderbird
from evaluators.decorators import setup
from foundation.errors import ActionError
from foundation.host_load import stretched
from foundation.settings import get_settings
from provisioning.world.authority import open_authority
from provisioning.world.persona.words.sites import CLOUD, HOSTS, WEBMAIL

if TYPE_CHECKING:
    from provisioning.protocols import Json, Machine

_TIMEOUT_S = 120.0
_CERTIFICATE = "/usr/local/share/ca-certificates/world-authority.crt"
_PROGRAMS = ("firefox", "thunderbird")
_HOME_PAGE = f"https://{WEBMAIL}/"


@setup(on="desktop")
def sign_in(machine: Machine, email: str, password: str) -> None:
    """Sign the desktop's Thunderbird in to the account of a world's person.

    It then has mail, calendars and contacts, and asks for news every minute. Firefox opens at the
    web mail, with bookmarks of all sites; on them somebody still has to sign in. Both, and the
    system's store, trust the worlds' certificates, until the desktop is reset. Neither program may
    run yet. Only images with Thunderbird, such as desktop-office, can do it.

    Args:
        machine: the desktop.
        email: address of the account.
        password: its password.
    """
    titles = {host: host.partition(".")[0].capitalize() for host in HOSTS if host != CLOUD}
    _trust(
        machine,
        {
            "Homepage": {"URL": _HOME_PAGE, "StartPage": "homepage"},
            "DisplayBookmarksToolbar": "always",
            "Bookmarks": [
                {"Title": title, "URL": f"https://{host}/", "Placement": "toolbar"}
                for host, title in titles.items()
            ],
        },
    )
    name = email.partition("@")[0].replace(".", " ").title()
    about = {"email": email, "password": password, "name": name}
    program = Path(guest_thunderbird.__file__).read_text(encoding="utf-8")
    _run(machine, program, about, "cannot be signed in", user=machine.info.user)


@setup(on="desktop")
def trust_worlds(machine: Machine) -> None:
    """Let programs of the desktop trust the certificates of this appliance's worlds.

    The system's store, Firefox and Thunderbird, which must not run yet, know the authority until
    the desktop is reset.

    Args:
        machine: the desktop.
    """
    _trust(machine, {})


def _trust(machine: Machine, of_firefox: dict[str, Json]) -> None:
    """Make the authority known.

    Args:
        machine: the desktop.
        of_firefox: further policies of Firefox.
    """
    policy: dict[str, Json] = {"Certificates": {"Install": [_CERTIFICATE]}}
    about = {
        "path": _CERTIFICATE,
        "certificate": open_authority(get_settings()).certificate,
        "policies": {
            f"/etc/{name}/policies/policies.json": policy
            | (of_firefox if name == "firefox" else {})
            for name in _PROGRAMS
        },
    }
    _run(machine, _TRUST, about, "cannot trust worlds", user="root")


def _run(machine: Machine, program: str, about: object, failure: str, *, user: str) -> None:
    """Run a Python program on the desktop.

    Raises:
        ActionError: it failed.
    """
    argv = ["/usr/bin/python3", "-I", "-c", program]
    data = json.dumps(about).encode()
    result = machine.run(argv, user=user, timeout_s=stretched(_TIMEOUT_S), input=data)
    if result.exit_code != 0:
        details = result.stderr.decode(errors="replace")[-2000:]
        raise ActionError(f"{machine.info.machine_id} {failure}.", details)


_TRUST = """
import json, os, subprocess, sys
about = json.load(sys.stdin)
os.makedirs(os.path.dirname(about["path"]), exist_ok=True)
with open(about["path"], "w") as file:
    file.write(about["certificate"])
store, bundle = "/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"
if os.path.exists(bundle):
    with open(bundle) as file:
        known = file.read()
    if about["certificate"] not in known:
        with open(bundle, "a") as file:
            file.write(about["certificate"])
        argv = ["openssl", "x509", "-noout", "-hash", "-in", about["path"]]
        name = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
        number = 0
        while os.path.lexists(f"{store}/{name}.{number}"):
            number += 1
        os.symlink(about["path"], f"{store}/{name}.{number}")
for path, policy in about["policies"].items():
    known = {"policies": {}}
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    known["policies"].update(policy)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump(known, file)
    os.chmod(path + ".new", 0o644)
    os.replace(path + ".new", path)
"""
"""Adds one certificate to the store: `update-ca-certificates` reads all, minutes under emulation."""
