"""Tests that a real guest reaches only what its task allows, by name and without DNS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.settings import get_settings
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.egress.policy import read_destinations
from provisioning.egress.proxy import Attempt, EgressProxy
from provisioning.protocols import EgressCapable
from tests.integration.test_forks import forked, sh
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.desktop.qemu.machine import DesktopVm

pytestmark = [
    pytest.mark.vm,
    NEEDS_APPLIANCE,
]

# Like a browser, it uses the proxy of GNOME's settings.
ASK = """
port=$(gsettings get org.gnome.system.proxy.http port)
test "$(gsettings get org.gnome.system.proxy mode)" = "'manual'" || echo unset
http_proxy=http://127.0.0.1:$port python3 - {url} <<'END'
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
END
"""
# Addresses of the host, its resolver and the internet; then names, with both address families.
ROUND = """
for where in 10.0.2.2/22 10.0.2.3/53 1.1.1.1/53 fec0::2/22 fec0::3/53 2606:4700:4700::1111/443; do
    { timeout 3 bash -c "echo > /dev/tcp/$where" 2> /dev/null && echo "$where"; } &
done
{ timeout 8 getent ahosts shop.test && echo resolved; } &
{ timeout 8 getent ahostsv6 example.org && echo resolved; } &
wait
timeout 8 python3 - <<'END'
import socket
question = bytes.fromhex("000101000001000000000000076578616d706c65036f72670000010001")
for server in ("10.0.2.3", "fec0::3"):
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.settimeout(2)
        try:
            asking.sendto(question, (server, 53))
            print("answered", asking.recv(512))
        except OSError:
            pass
END
echo end
"""


@pytest.fixture
def shop() -> Iterator[int]:
    """Serve a page on the host's loopback and return the port."""
    with website(lambda path, headers: f"welcome to {headers['Host']}{path}") as port:
        yield port


@pytest.fixture(scope="module")
def vm() -> Iterator[DesktopVm]:
    """Return a fork."""
    with forked(QemuBackend(get_settings())) as fork:
        yield fork


def test_guest_reaches_only_allowed_destinations(vm: DesktopVm, shop: int) -> None:
    proxy = EgressProxy(read_destinations([f"shop.test:80=127.0.0.1:{shop}"]))
    assert isinstance(vm, EgressCapable)
    with vm.open_proxy(proxy.serve):
        allowed = sh(vm, ASK.format(url="http://shop.test/door?open=1"))
        refused = sh(vm, ASK.format(url=f"http://127.0.0.1:{shop}/"))
        beside = sh(vm, ROUND)
    assert allowed == "welcome to shop.test/door?open=1"
    assert refused.startswith("403")
    assert beside == "end"
    assert proxy.attempts == [Attempt("shop.test", 80, True), Attempt("127.0.0.1", shop, False)]

    after = sh(vm, "timeout 3 bash -c 'echo > /dev/tcp/127.0.0.1/3128' 2> /dev/null || echo shut")
    assert after == "shut"
