"""Forged network settings, and legitimate ones that other programs create."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

_UPLINKS = "/run/systemd/resolve/resolv.conf"
_STUB = "nameserver 127.0.0.53\noptions edns0 trust-ad\n"
_ROUTE_HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n"
_TCP_HEAD = "  sl  local_address rem_address   st tx_queue\n"
_ETC = "/etc/NetworkManager/system-connections"
_RUN = "/run/NetworkManager/system-connections"
_OFFICE = "[connection]\nid=Office\nuuid=1\n[ipv4]\nmethod=manual\ndns=192.0.2.53;\n"


def _file(path: str, content: str, mode: int = 0o644) -> State:
    return lambda b: b.write(path, content, mode)


def _all(*states: State) -> State:
    return lambda b: [state(b) for state in states]


def _resolver(target: str, **files: str) -> State:
    """Make the list of name servers a link."""
    paths = {"uplinks": _UPLINKS, "stub": "/run/systemd/resolve/stub-resolv.conf"}
    return _all(
        lambda b: (b.folder_at("/etc"), b.link("/etc/resolv.conf", target)),
        *(_file(paths.get(name, f"/run/{name}/resolv.conf"), text) for name, text in files.items()),
    )


def _route(*rows: str) -> State:
    lines = "".join("\t".join(row.split()) + "\n" for row in rows)
    return _file("/proc/net/route", _ROUTE_HEAD + lines)


def _sockets(v4: str = "", v6: str = "", udp: str = "") -> State:
    tables = {"tcp": v4, "tcp6": v6, "udp": udp}
    return _all(*(_file(f"/proc/net/{name}", _TCP_HEAD + text) for name, text in tables.items()))


def hosts_entry() -> tuple[Case, ...]:
    """Return cases of `hosts_entry`."""
    args: dict[str, Json] = {"name": "printer", "address": "192.0.2.7"}

    def hosts(text: str) -> State:
        return _file("/etc/hosts", text)

    return (
        forged("line separator in a comment", hosts("# x\u2028192.0.2.7 printer\n"), **args),
        forged("no-break space as separator", hosts("192.0.2.7 x\u00a0printer\n"), **args),
        forged("different file", _all(hosts(""), _file("~/.hosts", "192.0.2.7 printer\n")), **args),
        forged("look-alike letter", hosts("192.0.2.7 \u0440rinter\n"), **args),
        forged("name before the address", hosts("printer 192.0.2.7\n"), **args),
        another_way("duplicate entry", hosts("192.0.2.7 printer\n192.0.2.7 x printer\n"), **args),
        another_way(
            "CRLF, tabs and no trailing newline",
            hosts("127.0.0.1 x\r\n\t192.0.2.7\t\tx PRINTER\r"),
            **args,
        ),
        another_way("IPv4 and IPv6", hosts("2001:db8::7 printer\n192.0.2.7 printer#x\n"), **args),
    )


def dns_servers_are() -> tuple[Case, ...]:
    """Return cases of `dns_servers_are`."""
    args: dict[str, Json] = {"addresses": ["192.0.2.53"]}
    wanted = "nameserver 192.0.2.53\n"

    def resolv(text: str) -> State:
        return _file("/etc/resolv.conf", text)

    return (
        forged("line with a leading space", resolv(f" {wanted}"), **args),
        forged("misspelled keyword", resolv(f"x{wanted}nameservers 192.0.2.53\n"), **args),
        forged("line separator in a comment", resolv(f"# x\x0b{wanted}"), **args),
        forged(
            "systemd stub with a different server",
            _resolver(
                "../run/systemd/resolve/stub-resolv.conf",
                uplinks="nameserver 192.0.2.1\n",
                stub=wanted,
            ),
            **args,
        ),
        forged(
            "link to an unrelated file",
            _all(_file("/srv/resolv.conf", wanted), _resolver("../srv/resolv.conf")),
            **args,
        ),
        forged("in the middle of a line", resolv("nameserver x;nameserver 192.0.2.53\n"), **args),
        another_way(
            "systemd stub",
            _resolver("../run/systemd/resolve/stub-resolv.conf", uplinks=wanted, stub=_STUB),
            **args,
        ),
        *(
            another_way(f"systemd, through {target}", _resolver(target, uplinks=wanted), **args)
            for target in (
                f"..{_UPLINKS}",
                "../usr/lib/systemd/resolv.conf",
                "../lib/systemd/resolv.conf",
            )
        ),
        another_way(
            "NetworkManager",
            _resolver("../run/NetworkManager/resolv.conf", NetworkManager=wanted),
            **args,
        ),
        another_way(
            "NetworkManager without a stub",
            _all(
                _resolver("../run/NetworkManager/no-stub-resolv.conf"),
                _file("/run/NetworkManager/no-stub-resolv.conf", wanted),
            ),
            **args,
        ),
        another_way(
            "resolvconf", _resolver("../run/resolvconf/resolv.conf", resolvconf=wanted), **args
        ),
        another_way("comment and CRLF", resolv("nameserver\t \t192.0.2.53;x\r\n"), **args),
        another_way("no trailing newline", resolv("search x\nnameserver 192.0.2.53"), **args),
    )


def default_gateway_is() -> tuple[Case, ...]:
    """Return cases of `default_gateway_is`."""
    args: dict[str, Json] = {"address": "192.0.2.1"}
    right, wrong = (
        "eth0 00000000 010200C0 0003 0 0 100 00000000 0",
        "eth0 00000000 090200C0 0003 0 0 100 00000000 0",
    )
    return (
        forged("second of two equal routes", _route(wrong, right), **args),
        forged(
            "unreachable route with a lower metric",
            _route(right, "* 00000000 00000000 0201 0 0 0 00000000 0"),
            **args,
        ),
        forged(
            "tunnel with a lower metric",
            _route(right, wrong.replace("eth0", "tun0").replace("100", "50")),
            **args,
        ),
        forged(
            "only a route to the gateway",
            _route("eth0 010200C0 010200C0 0007 0 0 0 FFFFFFFF 0"),
            **args,
        ),
        forged(
            "only in a configuration file",
            _all(_route(wrong), _file("/etc/network/interfaces", "gateway 192.0.2.1")),
            **args,
        ),
        another_way("first of two equal routes", _route(right, wrong), **args),
        another_way(
            "next to a tunnel",
            _route("tun0 00000A0A 00000000 0001 0 0 0 0000FFFF 0", right),
            **args,
        ),
        another_way("without a metric", _route(right.replace("100", "0"), wrong), **args),
    )


def port_listening() -> tuple[Case, ...]:
    """Return cases of `port_listening`."""
    args: dict[str, Json] = {"port": 8080}
    row = "0: 0100007F:1F90 00000000:0000 {} 0:0\n"
    return (
        forged("bound, but not listening", _sockets(row.format("07")), **args),
        forged("over UDP", _sockets(udp=row.format("0A")), **args),
        forged("closed recently", _sockets(row.format("06")), **args),
        forged(
            "port number in the address",
            _sockets("0: 1F901F90:0016 00000000:1F90 0A 0:0\n"),
            **args,
        ),
        another_way(
            "on all addresses", _sockets("1: 00000000:1F90 00000000:0000 0A 0:0\n"), **args
        ),
        another_way(
            "over IPv6, with a connected client",
            _sockets(
                "0: 0100007F:1F90 0100007F:9999 01 0:0\n",
                f"0: {'0' * 32}:1F90 {'0' * 32}:0000 0A 0:0\n",
            ),
            **args,
        ),
    )


def connection_setting_equals() -> tuple[Case, ...]:
    """Return cases of `connection_setting_equals`."""
    args: dict[str, Json] = {
        "connection": "Office",
        "section": "ipv4",
        "key": "method",
        "value": "manual",
    }
    dns: dict[str, Json] = {**args, "key": "dns", "value": "192.0.2.53"}

    def keyfile(text: str, path: str = f"{_ETC}/Office.nmconnection", mode: int = 0o600) -> State:
        return _file(path, text, mode)

    return (
        forged("file readable by others", keyfile(_OFFICE, mode=0o644), **args),
        forged("file writable by a group", keyfile(_OFFICE, mode=0o620), **args),
        forged(
            "colon instead of an equals sign",
            keyfile(_OFFICE.replace("method=", "method: ")),
            **args,
        ),
        forged(
            "changed later in memory",
            _all(
                keyfile(_OFFICE),
                keyfile(_OFFICE.replace("manual", "auto"), f"{_RUN}/Office.nmconnection"),
            ),
            **args,
        ),
        forged("duplicate setting", keyfile(f"{_OFFICE}method=auto\n"), **args),
        forged(
            "inside a value",
            keyfile("[connection]\nid=Office\n[user]\nx=[ipv4] method=manual\n"),
            **args,
        ),
        another_way(
            "created by netplan", keyfile(_OFFICE, f"{_RUN}/netplan-NM-1.nmconnection"), **args
        ),
        another_way(
            "in memory and on disk",
            _all(keyfile(_OFFICE), keyfile(_OFFICE, f"{_RUN}/Office-1.nmconnection")),
            **args,
        ),
        another_way(
            "connection named after its file", keyfile(_OFFICE.replace("id=Office\n", "")), **args
        ),
        another_way(
            "next to a backup file",
            _all(keyfile(_OFFICE), keyfile("x", f"{_ETC}/Office.nmconnection~")),
            **args,
        ),
        another_way(
            "next to a broken file",
            _all(keyfile(_OFFICE, f"{_ETC}/1.nmconnection"), keyfile("x")),
            **args,
        ),
        another_way("list with a trailing semicolon", keyfile(_OFFICE), **dns),
        another_way(
            "list without a trailing semicolon",
            keyfile(_OFFICE.replace(";", "")),
            **{**dns, "value": "192.0.2.53;"},
        ),
        another_way("spaces around the equals sign", keyfile(_OFFICE.replace("=", " = ")), **args),
    )
