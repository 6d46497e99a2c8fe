"""Setup operations of desktops that use a world: certificates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluators.decorators import setup
from foundation.errors import ActionError
from foundation.host_load import stretched
from foundation.settings import get_settings
from provisioning.world.authority import open_authority

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_TIMEOUT_S = 120.0
_CERTIFICATE = "/usr/local/share/ca-certificates/world-authority.crt"
_POLICIES = "/etc/firefox/policies/policies.json"


@setup(on="desktop")
def trust_worlds(machine: Machine) -> None:
    """Let programs of the desktop trust the certificates of this appliance's worlds.

    The system's store and Firefox, which must not run yet, know the authority until the desktop is
    reset.

    Args:
        machine: the desktop.
    """
    policy = {"Certificates": {"Install": [_CERTIFICATE]}}
    about = {
        "path": _CERTIFICATE,
        "certificate": open_authority(get_settings()).certificate,
        "policies": _POLICIES,
        "policy": policy,
    }
    argv = ["/usr/bin/python3", "-I", "-c", _TRUST]
    data = json.dumps(about).encode()
    result = machine.run(argv, user="root", timeout_s=stretched(_TIMEOUT_S), input=data)
    if result.exit_code != 0:
        details = result.stderr.decode(errors="replace")[-2000:]
        raise ActionError(f"{machine.info.machine_id} cannot trust worlds.", details)


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
known = {"policies": {}}
if os.path.exists(about["policies"]):
    with open(about["policies"]) as file:
        known = json.load(file)
known["policies"].update(about["policy"])
os.makedirs(os.path.dirname(about["policies"]), exist_ok=True)
with open(about["policies"] + ".new", "w") as file:
    json.dump(known, file)
os.chmod(about["policies"] + ".new", 0o644)
os.replace(about["policies"] + ".new", about["policies"])
"""
"""Adds one certificate to the store: `update-ca-certificates` reads all, minutes under emulation."""
