"""Setup operations of phones that use a world: an account, certificates, the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.phone_shell import run_on_phone
from controller.actions.setup_clocks import read_moment
from evaluators.decorators import setup
from foundation.settings import get_settings
from provisioning.world.authority import open_authority

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_SIGN_IN_S = 120.0


@setup(on="phone")
def sign_in(machine: Machine, email: str, password: str) -> None:
    """Sign the phone in to the account of a world's person, and synchronise.

    Mail, Calendar, Contacts and the folder Cloud of Files then have what the servers have, and
    synchronise every three seconds until the phone is reset; the Browser is signed in to all sites,
    and trusts their certificates. Only the reference phone can do it.

    Args:
        machine: the phone.
        email: address of the account.
        password: its password.
    """
    trust_worlds(machine)
    argv = ("account", "sign-in", email, password)
    run_on_phone(machine, *argv, timeout_s=_SIGN_IN_S)


@setup(on="phone")
def trust_worlds(machine: Machine) -> None:
    """Let the phone's Browser trust the certificates of this appliance's worlds until it is reset.

    Only the reference phone can do it.

    Args:
        machine: the phone.
    """
    run_on_phone(machine, "account", "trust", open_authority(get_settings()).certificate)


@setup(on="phone")
def set_clock(machine: Machine, time: str) -> None:
    """Set the phone's clock, until it is reset.

    Only the reference phone can do it.

    Args:
        machine: the phone.
        time: ISO 8601, such as 2024-03-06T08:02:00+00:00; UTC if it has no offset.
    """
    run_on_phone(machine, "cmd", "alarm", "set-time", str(int(read_moment(time) * 1000)))
