"""Which backend makes which kind of machine on this host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.settings import Settings
    from provisioning.makers import Maker


def host_makers(settings: Settings) -> Mapping[Kind, Maker]:
    """Give the maker of each kind: desktops by libvirt, phones by docker."""
    from provisioning.docker.maker import PhoneMaker  # noqa: PLC0415 - imports docker
    from provisioning.libvirt.maker import DesktopMaker  # noqa: PLC0415 - imports libvirt

    return {Kind.DESKTOP: DesktopMaker(settings), Kind.PHONE: PhoneMaker(settings)}
