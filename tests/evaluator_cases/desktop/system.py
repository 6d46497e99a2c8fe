"""Cases of the evaluators of the system, the network and git repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.desktop import git, network, system
from evaluators.testing.case import (
    CaseTable,
    State,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.desktop import DesktopFixture
from tests.evaluator_cases.desktop_ways import network as network_ways
from tests.evaluator_cases.desktop_ways import system as system_ways
from tests.evaluator_cases.desktop_ways.git import layout_cases
from tests.evaluator_cases.repository import (
    RepositoryFixture,
    branch_cases,
    in_latin_1,
    message_cases,
    tag_cases,
    text_cases,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATUS = "/var/lib/dpkg/status"
CRON = "/var/spool/cron/crontabs/user"
PASSWD = "root:x:0:0:root:/root:/bin/bash\nbob:x:1001:1001:,,,:/srv/bob:/bin/sh\n"
GROUP = "audio:x:29:pulse,bob\nbob:x:1001:\nvideo:x:44:\n"
TCP = (
    "  sl  local_address rem_address   st tx_queue\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
    "   1: 0100007F:0016 0100007F:9999 01 00000000:00000000\n"
)
TCP6 = "  sl  local_address\n   0: 00000000000000000000000000000000:1F91 0000:0000 0A 0\n"
ROUTE_HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n"
ROUTE = "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\n"
NM = "/etc/NetworkManager/system-connections"
OFFICE = "[connection]\nid=Office\n[ipv4]\nmethod=manual\naddress1=192.0.2.9/24\n"


def _file(path: str, content: str | bytes) -> State:
    return lambda b: b.write(path, content)


def _keyfile(path: str, content: str) -> State:
    return lambda b: b.write(path, content, 0o600)


def _files(**contents: str) -> State:
    """Write files to ``/etc`` by name."""
    return lambda b: [b.write(f"/etc/{name}", text) for name, text in contents.items()]


def _package(name: str, status: str = "install ok installed", version: str = "2.1-3") -> str:
    return (
        f"Package: {name}\nStatus: {status}\nPriority: optional\nVersion: {version}\n"
        f"Description: x: y: z\n Package: inner\n Status: install ok installed\n\n"
    )


def _linked(path: str, content: str) -> State:
    """Make a file a link to one that the user owns."""
    return lambda b: (b.write("~/mine", content), b.link(path, "~/mine"))


def _zone(target: str) -> State:
    def make(b: DesktopFixture) -> None:
        b.folder_at("/etc")
        name = target.partition("/usr/share/zoneinfo/")[2]
        if name:
            b.write(f"/usr/share/zoneinfo/{name}", f"TZif2 {name}")
        b.at("/etc/localtime").symlink_to(target)

    return make


def _tcp(v4: str = TCP, v6: str = TCP6) -> State:
    return lambda b: (b.write("/proc/net/tcp", v4), b.write("/proc/net/tcp6", v6))


def _route(*rows: str) -> State:
    return _file("/proc/net/route", ROUTE_HEAD + "".join(rows))


SYSTEM = (
    CaseTable(
        system.package_installed,
        DesktopFixture,
        (
            positive("installed", _file(STATUS, _package("vim") + _package("gimp")), name="gimp"),
            positive(
                "held back", _file(STATUS, _package("gimp", "hold ok installed")), name="gimp"
            ),
            positive(
                "matching version", _file(STATUS, _package("gimp")), name="gimp", version="2.1-3"
            ),
            negative("different package", _file(STATUS, _package("vim")), name="gimp"),
            near_miss(
                "removed", _file(STATUS, _package("gimp", "deinstall ok config-files")), name="gimp"
            ),
            near_miss(
                "only half installed",
                _file(STATUS, _package("gimp", "install ok half-installed")),
                name="gimp",
            ),
            near_miss("only its data package", _file(STATUS, _package("gimp-data")), name="gimp"),
            near_miss("name in a description", _file(STATUS, _package("vim")), name="inner"),
            near_miss(
                "different version",
                _file(STATUS, _package("gimp", version="2.1-30")),
                name="gimp",
                version="2.1-3",
            ),
            corrupt("truncated", _file(STATUS, "Package: gimp\nStat"), name="gimp"),
            corrupt(
                "entry without a name", _file(STATUS, "Status: install ok installed\n"), name=""
            ),
            missing("dpkg missing", nothing, name="gimp"),
            empty("no packages", _file(STATUS, ""), name="gimp"),
            hostile("link in place of the file", _linked(STATUS, _package("gimp")), name="gimp"),
            hostile("huge file", lambda b: b.huge(STATUS), name="gimp"),
            *system_ways.package_installed(),
        ),
        equivalent={
            "installed: * flip a byte": "a different package",
            "*: args.version: empty": "any version",
            "matching version: * flip a byte": "it changes a description",
        },
    ),
    CaseTable(
        system.package_absent,
        DesktopFixture,
        (
            positive("never installed", _file(STATUS, _package("vim")), name="gimp"),
            positive(
                "removed",
                _file(STATUS, _package("vim") + _package("gimp", "deinstall ok config-files")),
                name="gimp",
            ),
            negative("installed", _file(STATUS, _package("gimp")), name="gimp"),
            near_miss(
                "different package removed",
                _file(STATUS, _package("vim", "deinstall ok config-files") + _package("gimp")),
                name="gimp",
            ),
            corrupt("no entries", _file(STATUS, "\n\n\n"), name="gimp").expect_error(),
            missing("dpkg missing", nothing, name="gimp").expect_error(),
            empty("no packages", _file(STATUS, ""), name="gimp").expect_error(),
            hostile(
                "link in place of the file", _linked(STATUS, _package("vim")), name="gimp"
            ).expect_error(),
            *system_ways.package_absent(),
        ),
        equivalent={
            "*: args.name: *": "that package is not installed either",
            "*: * flip a byte": "it does not change the name of the absent package",
            "*: * cut": "the package is not in the first half either",
        },
    ),
    CaseTable(
        system.user_exists,
        DesktopFixture,
        (
            positive("user present", _files(passwd=PASSWD), name="bob"),
            positive(
                "matching shell and home folder",
                _files(passwd=PASSWD),
                name="bob",
                shell="/bin/sh",
                home="/srv/bob",
            ),
            negative(
                "user missing", _files(passwd="root:x:0:0:root:/root:/bin/bash\n"), name="bob"
            ),
            near_miss(
                "part of a user name", _files(passwd=PASSWD.replace("bob", "bobby")), name="bob"
            ),
            near_miss("different shell", _files(passwd=PASSWD), name="bob", shell="/bin/bash"),
            near_miss("different home folder", _files(passwd=PASSWD), name="bob", home="/root"),
            near_miss(
                "only as a full name", _files(passwd="eve:x:1:1:bob:/:/bin/sh\n"), name="bob"
            ),
            corrupt(
                "missing field", _files(passwd="bob:x:1001:1001:/srv/bob:/bin/sh\n"), name="bob"
            ),
            missing("no user list", nothing, name="bob"),
            empty("empty list", _files(passwd=""), name="bob"),
            hostile("link in place of the file", _linked("/etc/passwd", PASSWD), name="bob"),
            hostile("huge file", lambda b: b.huge("/etc/passwd"), name="bob"),
            *system_ways.user_exists(),
        ),
        equivalent={
            "*: * flip a byte": "it does not change the name",
            "*: args.shell: empty": "any value",
            "*: args.home: empty": "any value",
        },
    ),
    CaseTable(
        system.user_in_group,
        DesktopFixture,
        (
            positive(
                "supplementary group", _files(passwd=PASSWD, group=GROUP), user="bob", group="audio"
            ),
            positive("primary group", _files(passwd=PASSWD, group=GROUP), user="bob", group="bob"),
            negative("not a member", _files(passwd=PASSWD, group=GROUP), user="bob", group="video"),
            near_miss(
                "part of a member's name",
                _files(passwd=PASSWD, group="audio:x:29:bobby\n"),
                user="bob",
                group="audio",
            ),
            near_miss(
                "member of a different group",
                _files(passwd=PASSWD, group="audio2:x:29:bob\n"),
                user="bob",
                group="audio",
            ),
            near_miss(
                "missing user",
                _files(passwd="root:x:0:0::/:/bin/sh\n", group=GROUP),
                user="bob",
                group="audio",
            ),
            corrupt(
                "missing field",
                _files(passwd=PASSWD, group="audio:29:bob\n"),
                user="bob",
                group="audio",
            ),
            missing("no group list", _files(passwd=PASSWD), user="bob", group="audio"),
            missing("no user list", _files(group=GROUP), user="bob", group="audio"),
            empty("empty list", _files(passwd=PASSWD, group=""), user="bob", group="audio"),
            hostile(
                "link in place of the file",
                lambda b: (b.write("/etc/passwd", PASSWD), _linked("/etc/group", GROUP)(b)),
                user="bob",
                group="audio",
            ),
            *system_ways.user_in_group(),
        ),
        equivalent={
            "*: * flip a byte": "it does not change the name",
            "supplementary group: etc/group: cut": "the group is on the first line",
        },
    ),
    CaseTable(
        system.cron_has_job,
        DesktopFixture,
        (
            positive(
                "matching job",
                _file(CRON, "# m h\nMAILTO=x\n 0  8 * * *  /usr/bin/backup --all \n"),
                schedule="0 8 * * *",
                command="/usr/bin/backup --all",
            ),
            positive(
                "keyword as schedule",
                _file(CRON, "@daily /bin/true\n"),
                schedule="@daily",
                command=" /bin/true",
            ),
            positive(
                "job of a different user",
                _file("/var/spool/cron/crontabs/bob", "@daily /bin/true\n"),
                schedule="@daily",
                command="/bin/true",
                user="bob",
            ),
            negative(
                "different command",
                _file(CRON, "0 8 * * * /bin/true\n"),
                schedule="0 8 * * *",
                command="/usr/bin/backup",
            ),
            near_miss(
                "different time",
                _file(CRON, "0 9 * * * /bin/true\n"),
                schedule="0 8 * * *",
                command="/bin/true",
            ),
            near_miss(
                "commented out",
                _file(CRON, "#0 8 * * * /bin/true\n"),
                schedule="0 8 * * *",
                command="/bin/true",
            ),
            near_miss(
                "additional argument in the command",
                _file(CRON, "0 8 * * * /bin/true -x\n"),
                schedule="0 8 * * *",
                command="/bin/true",
            ),
            near_miss(
                "in a different user's crontab",
                _file("/var/spool/cron/crontabs/bob", "@daily /bin/true\n"),
                schedule="@daily",
                command="/bin/true",
            ),
            corrupt(
                "not UTF-8",
                _file(CRON, b"@daily /bin/true\n\xff"),
                schedule="@daily",
                command="/bin/true",
            ),
            corrupt(
                "four fields",
                _file(CRON, "8 * * * /bin/true"),
                schedule="8 * * *",
                command="/bin/true",
            ).expect_error(),
            missing("no crontab", nothing, schedule="@daily", command="/bin/true"),
            empty("empty crontab", _file(CRON, ""), schedule="@daily", command="/bin/true"),
            hostile(
                "link in place of the file",
                _linked(CRON, "@daily /bin/true\n"),
                schedule="@daily",
                command="/bin/true",
            ),
            hostile("huge file", lambda b: b.huge(CRON), schedule="@daily", command="/bin/true"),
            *system_ways.cron_has_job(),
        ),
        equivalent={},
    ),
    CaseTable(
        system.hostname_is,
        DesktopFixture,
        (
            positive("blank lines", _files(hostname=" \n atelier \n"), name="atelier"),
            positive("matching name", _files(hostname="# x\natelier\n"), name="atelier"),
            negative("different name", _files(hostname="desk\n"), name="atelier"),
            near_miss("name with a domain", _files(hostname="atelier.test\n"), name="atelier"),
            near_miss("commented out", _files(hostname="#atelier\n"), name="#atelier"),
            corrupt("two names", _files(hostname="atelier\ndesk\n"), name="atelier"),
            missing("no file", nothing, name="XX"),
            empty("empty file", _files(hostname=" \n"), name=""),
            hostile(
                "link in place of the file", _linked("/etc/hostname", "atelier\n"), name="atelier"
            ),
            *system_ways.hostname_is(),
        ),
        equivalent={"*: args.name: swap case": "letter case is ignored"},
    ),
    CaseTable(
        system.timezone_is,
        DesktopFixture,
        (
            positive(
                "absolute link", _zone("/usr/share/zoneinfo/Europe/Zurich"), zone="Europe/Zurich"
            ),
            positive("relative link", _zone("../usr/share/zoneinfo/UTC"), zone="UTC"),
            negative(
                "different time zone", _zone("/usr/share/zoneinfo/Asia/Tokyo"), zone="Europe/Zurich"
            ),
            near_miss(
                "only part of the time zone name",
                _zone("/usr/share/zoneinfo/Europe/Zurich"),
                zone="Zurich",
            ),
            near_miss("same name in a different folder", _zone("/srv/zoneinfo/UTC"), zone="UTC"),
            corrupt("invalid copy", _files(localtime="TZif2"), zone="UTC"),
            missing("no time zone", nothing, zone="UTC"),
            empty("empty expected time zone", _zone("/usr/share/zoneinfo/"), zone=""),
            hostile(
                "file that contains the path",
                _files(localtime="/usr/share/zoneinfo/UTC"),
                zone="UTC",
            ),
            *system_ways.timezone_is(),
        ),
        equivalent={
            f"*: usr/share/zoneinfo/*: {name}": "a system file that only the system writes"
            for name in ("empty", "cut", "flip a byte", "link")
        },
    ),
    CaseTable(
        system.shell_history_has,
        DesktopFixture,
        (
            positive(
                "matching line",
                _file("~/.bash_history", "cd\n#1700000000\nls -l \n"),
                command=" ls -l",
            ),
            negative("different command", _file("~/.bash_history", "cd\n"), command="ls -l"),
            near_miss("part of a line", _file("~/.bash_history", "sudo ls -l\n"), command="ls -l"),
            near_miss(
                "time stamp, not a command",
                _file("~/.bash_history", "#1700000000\n"),
                command="#1700000000",
            ),
            near_miss(
                "history of a different shell", _file("~/.zsh_history", "ls -l\n"), command="ls -l"
            ),
            corrupt("not UTF-8", _file("~/.bash_history", b"ls -l\n\xff"), command="ls -l"),
            missing("no history", nothing, command="XX"),
            empty("empty file", _file("~/.bash_history", "\n"), command=" "),
            hostile(
                "link in place of the file", _linked("~/.bash_history", "ls -l\n"), command="ls -l"
            ),
            hostile("huge file", lambda b: b.huge("~/.bash_history"), command="ls -l"),
            *system_ways.shell_history_has(),
        ),
        equivalent={"*: * flip a byte": "a different line"},
    ),
)

NETWORK = (
    CaseTable(
        network.hosts_entry,
        DesktopFixture,
        (
            positive(
                "matching entry",
                _files(hosts="127.0.0.1 localhost\n192.0.2.7\tdesk Printer # x\n"),
                name="printer",
                address="192.0.2.7",
            ),
            positive(
                "IPv6 in a different notation",
                _files(hosts="2001:DB8:0::1 printer\n192.0.2.7 printer"),
                name="PRINTER",
                address="2001:db8::1",
            ),
            negative(
                "different address",
                _files(hosts="192.0.2.8 printer\n"),
                name="printer",
                address="192.0.2.7",
            ),
            near_miss(
                "part of a user name",
                _files(hosts="192.0.2.7 printer2\n"),
                name="printer",
                address="192.0.2.7",
            ),
            near_miss(
                "commented out",
                _files(hosts="#192.0.2.7 printer\n192.0.2.7 x # printer\n"),
                name="printer",
                address="192.0.2.7",
            ),
            near_miss(
                "second address",
                _files(hosts="192.0.2.7 printer\n192.0.2.8 printer\n"),
                name="printer",
                address="192.0.2.7",
            ),
            corrupt(
                "invalid address",
                _files(hosts="192.0.2 printer\n"),
                name="printer",
                address="192.0.2.7",
            ),
            corrupt(
                "invalid expected address", _files(hosts=""), name="printer", address="x"
            ).expect_error(),
            missing("no file", nothing, name="printer", address="192.0.2.7"),
            empty("empty expected name", _files(hosts="192.0.2.7\n"), name="", address="192.0.2.7"),
            hostile(
                "link in place of the file",
                _linked("/etc/hosts", "192.0.2.7 printer\n"),
                name="printer",
                address="192.0.2.7",
            ),
            hostile(
                "huge file", lambda b: b.huge("/etc/hosts"), name="printer", address="192.0.2.7"
            ),
            *network_ways.hosts_entry(),
        ),
        equivalent={
            "*: args.name: swap case": "letter case is ignored",
            "*: args.address: swap case": "letter case is ignored",
            "IPv6*: * cut": "the entry is in the first half",
            "IPv6*: * flip a byte": "the other entry",
        },
    ),
    CaseTable(
        network.dns_servers_are,
        DesktopFixture,
        (
            positive(
                "two servers",
                _files(
                    **{
                        "resolv.conf": "search test\nnameserver 192.0.2.53\nnameserver\t2001:db8::35\noptions x\n"
                    }
                ),
                addresses=["192.0.2.53", "2001:DB8::35"],
            ),
            negative(
                "different server",
                _files(**{"resolv.conf": "nameserver 192.0.2.1\n"}),
                addresses=["192.0.2.53"],
            ),
            near_miss(
                "one additional server",
                _files(**{"resolv.conf": "nameserver 192.0.2.53\nnameserver 192.0.2.1\n"}),
                addresses=["192.0.2.53"],
            ),
            near_miss(
                "different order",
                _files(**{"resolv.conf": "nameserver 192.0.2.1\nnameserver 192.0.2.53\n"}),
                addresses=["192.0.2.53", "192.0.2.1"],
            ),
            near_miss(
                "commented out",
                _files(**{"resolv.conf": "# nameserver 192.0.2.53\n"}),
                addresses=["192.0.2.53"],
            ),
            corrupt(
                "invalid address",
                _files(**{"resolv.conf": "nameserver 192.0.2\nnameserver\n"}),
                addresses=["192.0.2.53"],
            ),
            missing("no file", nothing, addresses=["192.0.2.53"]),
            empty(
                "empty expected addresses", _files(**{"resolv.conf": ""}), addresses=[]
            ).expect_error(),
            hostile(
                "link in place of the file",
                _linked("/etc/resolv.conf", "nameserver 192.0.2.53\n"),
                addresses=["192.0.2.53"],
            ),
            *network_ways.dns_servers_are(),
        ),
        equivalent={},
    ),
    CaseTable(
        network.default_gateway_is,
        DesktopFixture,
        (
            positive("different flags", _route(ROUTE.replace("0003", "0013")), address="192.0.2.1"),
            positive(
                "matching gateway",
                _route("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n", ROUTE),
                address="192.0.2.1",
            ),
            positive(
                "lower metric of two",
                _route(ROUTE.replace("100", "200").replace("01", "09", 1), ROUTE),
                address="192.0.2.1",
            ),
            negative(
                "different gateway",
                _route(ROUTE.replace("010200C0", "020200C0")),
                address="192.0.2.1",
            ),
            near_miss("reversed byte order", _route(ROUTE), address="1.2.0.192"),
            near_miss(
                "not the default",
                _route(ROUTE.replace("00000000", "000200C0", 1)),
                address="192.0.2.1",
            ),
            near_miss(
                "mask that does not cover all addresses",
                _route("eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000080\t0\n"),
                address="192.0.2.1",
            ),
            near_miss("interface down", _route(ROUTE.replace("0003", "0002")), address="192.0.2.1"),
            corrupt(
                "row too short", _route("eth0\t00000000\n"), address="192.0.2.1"
            ).expect_error(),
            missing("no route table", nothing, address="192.0.2.1"),
            empty("no routes", _route(), address="192.0.2.1"),
            hostile("invalid expected address", _route(ROUTE), address="localhost").expect_error(),
            *network_ways.default_gateway_is(),
        ),
        equivalent={
            "matching gateway: * flip a byte": "the other route",
            "lower metric of two*: * flip a byte": "no effect",
            "lower metric of two*: * cut": "no effect",
        },
    ),
    CaseTable(
        network.port_listening,
        DesktopFixture,
        (
            positive("IPv4", _tcp(), port=0x1F90),
            positive("IPv6", _tcp(), port=0x1F91),
            negative("no listener", _tcp(), port=80),
            near_miss("connected, not listening", _tcp(), port=0x16),
            near_miss("port of the remote end", _tcp(), port=0x9999),
            corrupt("row too short", _tcp(v4="head\n0: 0\n"), port=80).expect_error(),
            missing("no socket table", nothing, port=80),
            empty("no sockets", _tcp("head\n", ""), port=80),
            hostile("header line", _tcp("a b:1F90 c 0A\n"), port=0x1F90),
            *network_ways.port_listening(),
        ),
        equivalent={
            "IPv6: proc/net/tcp6: flip a byte": "a digit of the remote address",
            "IPv4: proc/net/tcp: flip a byte": "no effect",
            "IPv4: proc/net/tcp6: *": "the other table",
            "IPv6: proc/net/tcp: *": "the other table",
            "IPv4: proc/net/tcp: cut": "no effect",
            "IPv4: args.port: more": "that port is also listening",
            "IPv6: args.port: less": "that port is also listening",
        },
    ),
    CaseTable(
        network.connection_setting_equals,
        DesktopFixture,
        (
            positive(
                "matching setting",
                lambda b: (
                    b.write(f"{NM}/office.nmconnection", OFFICE, 0o600),
                    b.write(f"{NM}/a.nmconnection", "[connection]\nid=Home\n", 0o600),
                    b.write(f"{NM}/0", "x"),
                ),
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            negative(
                "different value",
                _keyfile(f"{NM}/office.nmconnection", OFFICE),
                connection="Office",
                section="ipv4",
                key="method",
                value="auto",
            ),
            near_miss(
                "setting of a different connection",
                _keyfile(f"{NM}/office.nmconnection", OFFICE),
                connection="Home",
                section="ipv4",
                key="method",
                value="manual",
            ),
            near_miss(
                "in a different section",
                _keyfile(f"{NM}/office.nmconnection", OFFICE),
                connection="Office",
                section="ipv6",
                key="method",
                value="manual",
            ),
            near_miss(
                "not a connection file",
                _keyfile(f"{NM}/office.bak", OFFICE),
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            near_miss(
                "in section DEFAULT",
                _file(
                    f"{NM}/o.nmconnection",
                    "[DEFAULT]\nmethod=manual\n[connection]\nid=Office\n[ipv4]\n",
                ),
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            corrupt(
                "no section",
                _keyfile(f"{NM}/office.nmconnection", "id=Office\nmethod=manual\n"),
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            missing(
                "no connections",
                nothing,
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            empty(
                "empty file",
                _keyfile(f"{NM}/office.nmconnection", ""),
                connection="",
                section="ipv4",
                key="method",
                value="",
            ),
            hostile(
                "two connections of the same name",
                lambda b: [b.write(f"{NM}/{n}.nmconnection", OFFICE, 0o600) for n in "ab"],
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            hostile(
                "link in place of the file",
                _linked(f"{NM}/office.nmconnection", OFFICE),
                connection="Office",
                section="ipv4",
                key="method",
                value="manual",
            ),
            *network_ways.connection_setting_equals(),
        ),
        equivalent={
            "*/0: *": "other files are ignored",
            "*/a.nmconnection: *": "other connections are ignored",
            "*/office.nmconnection: rename": "the name of the file is ignored",
            "*/office.nmconnection: flip a byte": "a different line",
        },
    ),
)


def _commits(*messages: str) -> State:
    return lambda b: [b.commit(message) for message in messages]


def _then(*args: str) -> State:
    """Create a commit ``one``, then run a git command."""
    return lambda b: (b.commit("one"), b.git(*args))


def _redo(b: RepositoryFixture) -> None:
    """Replace the commit with ``git replace``."""
    b.commit("one")
    first = b.git("rev-parse", "HEAD")
    b.commit("Fix")
    second = b.git("rev-parse", "HEAD")
    b.git("reset", "--hard", first)
    b.git("replace", first, second)


def _config(b: RepositoryFixture) -> None:
    """Try to make git run programs."""
    b.commit("one")
    trap = b.write("~/trap", "#!/bin/sh\ntouch ~/trapped\necho trapped\n", 0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"):
        b.git("config", key, str(trap))
    b.git("config", "log.showSignature", "true")
    b.write("~/r/.gitattributes", "* diff=trap filter=trap\n")
    b.git("config", "diff.trap.textconv", str(trap))


def _outside(b: RepositoryFixture) -> None:
    b.commit("one")
    b.at("~/r").rename(b.folder / "r")
    b.link("~/r", "/r")


def _broken(b: RepositoryFixture) -> None:
    b.commit("one")
    for file in b.at("~/r/.git/objects").rglob("*"):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(file.read_bytes()[:8])


_DEEP = "a/" * 11 + "fix"


def _packs(b: RepositoryFixture) -> None:
    """Add packs without an index to a repository: one can be copied, two cannot."""
    b.commit("one")
    for digit in "ef":
        b.huge(f"~/r/.git/objects/pack/pack-{digit * 40}.pack", 65 << 20)


def _empty(b: RepositoryFixture) -> None:
    b.start()


def _without_git(exit_code: int) -> State:
    def make(b: RepositoryFixture) -> None:
        b.commit("one")
        b.git_exit_code = exit_code

    return make


def _gathered(b: RepositoryFixture) -> None:
    """Pack objects and references."""
    b.commit("zero", z="0")
    b.commit("one", a="hi")
    b.git("tag", "v1")
    b.git("branch", "fix")
    b.git("gc", "-q")


def _plumbed(b: RepositoryFixture) -> None:
    """Create the same commits without a work tree."""
    b.commit("zero", z="0")
    b.write("~/r/a", "hi")
    b.git("update-index", "--add", "a")
    tree = b.git("write-tree")
    commit = b.git("commit-tree", tree, "-p", "HEAD", "-m", "one")
    for name in ("heads/main", "heads/fix", "tags/v1"):
        b.git("update-ref", f"refs/{name}", commit)


def _with_gitlink(b: RepositoryFixture) -> None:
    """Commit a gitlink, like that of a submodule."""
    b.commit("one", b="1")
    b.git("update-index", "--add", "--cacheinfo", f"160000,{b.git('rev-parse', 'HEAD')},a")
    b.git("commit", "-q", "-m", "two")


def _fetched(b: RepositoryFixture) -> None:
    """Clone the last commit of a repository."""
    _gathered(b)
    b.at("~/r").rename(b.at("~/origin"))
    b.folder_at("~/r")
    b.git("clone", "-q", "--depth", "1", f"file://{b.at('~/origin')}", ".")


def _elsewhere(b: RepositoryFixture) -> None:
    """Move all objects to a different folder."""
    _plumbed(b)
    b.at("~/r/.git/objects").rename(b.at("~/objects"))
    b.write("~/r/.git/objects/info/alternates", f"{b.at('~/objects')}\n")


def _impostor(wanted: str, real: str = "HEAD") -> State:
    """Replace the file of one object by that of a different one.

    Args:
        wanted: revision of the object whose content is displayed.
        real: revision of the object that it replaces.
    """

    def make(b: RepositoryFixture) -> None:
        b.commit("zero", a="ho", z="0")
        b.commit("one", a="hi")
        b.git("branch", "old")
        b.git("tag", "-a", "-m", "x", "v1", "HEAD")
        b.git("tag", "-a", "-m", "x", "v0", "HEAD~")
        b.git("commit", "-q", "--allow-empty", "-m", "two")
        b.commit("three", a="ho")
        source, target = (_object(b, revision) for revision in (wanted, real))
        target.chmod(0o644)
        target.write_bytes(source.read_bytes())

    return make


def _object(b: RepositoryFixture, revision: str) -> Path:
    digest = b.git("rev-parse", revision)
    return b.at(f"~/r/.git/objects/{digest[:2]}/{digest[2:]}")


def _shallow(b: RepositoryFixture) -> None:
    """Hide all commits but the last."""
    b.commit("zero", a="0")
    b.commit("one", b="1")
    b.write("~/r/.git/shallow", b.git("rev-parse", "HEAD") + "\n")


def _grafted(b: RepositoryFixture) -> None:
    """Graft a forged parent onto the only commit."""
    b.commit("one", a="hi", b="1")
    b.write("~/r/a", "ho")
    b.git("add", "a")
    parent = b.git("commit-tree", b.git("write-tree"), "-m", "zero")
    b.write("~/r/.git/info/grafts", f"{b.git('rev-parse', 'HEAD')} {parent}\n")


def _linked_head(b: RepositoryFixture) -> None:
    """Make HEAD a symbolic link, as early versions of git did."""
    b.commit("one")
    b.at("~/r/.git/HEAD").unlink()
    b.at("~/r/.git/HEAD").symlink_to("refs/heads/main")


def _named_as_the_branch(b: RepositoryFixture) -> None:
    """Create a tag at an earlier commit with the name of the branch."""
    b.commit("one")
    b.git("tag", "main")
    b.commit("two")


def _named_wholly(b: RepositoryFixture) -> None:
    """Create a tag at an earlier commit with the full name of the branch."""
    b.commit("one")
    b.git("update-ref", "refs/tags/refs/heads/main", "HEAD")
    b.commit("two")


def _named_head(b: RepositoryFixture) -> None:
    """Create a branch named HEAD at an earlier commit."""
    b.commit("one")
    b.git("update-ref", "refs/heads/HEAD", "HEAD")
    b.commit("two")


def _far_work_tree(b: RepositoryFixture) -> None:
    """Configure a different work tree and an included configuration file."""
    _plumbed(b)
    b.git("config", "include.path", str(b.write("~/more", "[core]\n\tbare = nonsense\n")))
    b.git("config", "core.worktree", str(b.folder_at("~/other")))


def _linked_tree(b: RepositoryFixture) -> str:
    """Check out a branch in an additional work tree, and pack the repository."""
    b.commit("one")
    b.git("worktree", "add", "-q", "-b", "fix", str(b.at("~/w")))
    return b.git("gc", "-q")


def _linked_link(b: RepositoryFixture) -> None:
    b.at("~/w/.git").rename(b.at("~/aside"))
    b.at("~/w/.git").symlink_to(b.at("~/aside"))


_TORN: dict[str, Callable[[RepositoryFixture], object]] = {
    "without its folder in the repository": lambda b: b.at("~/r/.git/worktrees/w/HEAD").unlink(),
    "of a repository without references": lambda b: b.write(
        "~/r/.git/worktrees/w/commondir", f"{b.folder_at('~/q')}\n"
    ),
    "that was moved": lambda b: b.at("~/w").rename(b.folder_at("~/w2") / "w"),
    "that is a link": _linked_link,
}


def _torn(change: Callable[[RepositoryFixture], object]) -> Callable[[RepositoryFixture], None]:
    """Return a state with a linked work tree and a change."""

    def state(b: RepositoryFixture) -> None:
        _linked_tree(b)
        change(b)

    return state


R = "~/r"
GIT = (
    CaseTable(
        git.git_branch_is,
        RepositoryFixture,
        (
            missing("git missing", _without_git(127), path=R, branch="main").expect_error(),
            missing("git not executable", _without_git(126), path=R, branch="main").expect_error(),
            positive("current branch", _commits("one"), path=R, branch="main"),
            positive(
                "branch name with a slash",
                _then("checkout", "-q", "-b", "fix/a"),
                path=R,
                branch="fix/a",
            ),
            negative(
                "different branch", _then("checkout", "-q", "-b", "fix"), path=R, branch="main"
            ),
            near_miss(
                "branch exists, but is not checked out",
                _then("branch", "fix"),
                path=R,
                branch="fix",
            ),
            near_miss("detached HEAD", _then("checkout", "-q", "--detach"), path=R, branch="main"),
            near_miss("part of the branch name", _commits("one"), path=R, branch="mai"),
            corrupt(
                "invalid HEAD",
                lambda b: (b.commit("one"), b.write("~/r/.git/HEAD", "x")),
                path=R,
                branch="main",
            ),
            missing("no folder", nothing, path=R, branch="main"),
            missing("no repository", lambda b: b.folder_at(R), path=R, branch="main"),
            empty("no commits", _empty, path=R, branch="main").expect_met(),
            hostile("link to outside", _outside, path=R, branch="main"),
            hostile(
                "file in place of .git that names another repository",
                lambda b: (
                    b.commit("one"),
                    b.git("checkout", "-q", "-b", "fix"),
                    b.at("~/r/.git").rename(b.at("~/g")),
                    b.write("~/r/.git", f"gitdir: {b.at('~/g')}"),
                ),
                path=R,
                branch="main",
            ),
            hostile(
                "repository in the parent folder",
                lambda b: (b.commit("one"), b.folder_at("~/r/sub")),
                path="~/r/sub",
                branch="main",
            ),
            another_way("objects from elsewhere", _elsewhere, path=R, branch="main"),
            *layout_cases(branch="main"),
            forged("symbolic link as HEAD", _linked_head, path=R, branch="main"),
            *(
                forged(f"linked work tree {what}", _torn(change), path="~/w", branch="fix")
                for what, change in _TORN.items()
            ),
            another_way("in a linked work tree", _linked_tree, path="~/w", branch="fix"),
            another_way(
                "in a linked work tree that its repository does not register",
                _torn(lambda b: b.at("~/r/.git/worktrees/w/gitdir").unlink()),
                path="~/w",
                branch="fix",
            ),
            another_way("packed", _gathered, path=R, branch="main"),
            another_way("with git plumbing commands", _plumbed, path=R, branch="main"),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, branch="main"
            ),
            another_way("shallow clone", _fetched, path=R, branch="main"),
        ),
        equivalent={},
    ),
    CaseTable(
        git.git_branch_exists,
        RepositoryFixture,
        (
            positive("branch present", _then("branch", "fix"), path=R, branch="fix"),
            negative("branch missing", _commits("one"), path=R, branch="fix"),
            near_miss("tag instead of a branch", _then("tag", "fix"), path=R, branch="fix"),
            near_miss(
                "deleted branch",
                lambda b: (
                    b.commit("one"),
                    b.git("branch", "fix"),
                    b.git("branch", "-q", "-D", "fix"),
                ),
                path=R,
                branch="fix",
            ),
            near_miss(
                "only a remote branch",
                _then("update-ref", "refs/remotes/origin/fix", "HEAD"),
                path=R,
                branch="fix",
            ),
            corrupt(
                "reference to a missing commit",
                lambda b: (b.commit("one"), b.write("~/r/.git/refs/heads/fix", "0" * 39 + "1\n")),
                path=R,
                branch="fix",
            ),
            missing("no repository", nothing, path=R, branch="fix"),
            empty("no commits", _empty, path=R, branch="main"),
            hostile("link to outside", _outside, path=R, branch="main"),
            hostile("name that looks like an option", _commits("one"), path=R, branch="--all"),
            hostile("name nested too deep", _then("branch", _DEEP), path=R, branch=_DEEP),
            hostile("next to packs over the total size limit", _packs, path=R, branch="main"),
            another_way("objects from elsewhere", _elsewhere, path=R, branch="fix"),
            *layout_cases(branch="fix"),
            forged(
                "commit object replaced by a different one",
                _impostor("HEAD~", "old"),
                path=R,
                branch="old",
            ),
            another_way("packed", _gathered, path=R, branch="fix"),
            another_way("with git plumbing commands", _plumbed, path=R, branch="fix"),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, branch="fix"
            ),
            *branch_cases(),
        ),
        equivalent={},
    ),
    CaseTable(
        git.git_tag_at,
        RepositoryFixture,
        (
            positive("tag at the last commit", _then("tag", "v1"), path=R, tag="v1"),
            positive(
                "annotated tag on a branch",
                lambda b: (
                    b.commit("one"),
                    b.git("tag", "-a", "-m", "x", "v1"),
                    b.commit("two"),
                    b.git("branch", "old", "v1"),
                ),
                path=R,
                tag="v1",
                ref="refs/heads/old",
            ),
            negative("tag missing", _commits("one"), path=R, tag="v1"),
            near_miss(
                "tag at the previous commit",
                lambda b: (b.commit("one"), b.git("tag", "v1"), b.commit("two")),
                path=R,
                tag="v1",
            ),
            near_miss("branch instead of a tag", _then("branch", "v1"), path=R, tag="v1"),
            corrupt(
                "reference to a missing commit",
                lambda b: (b.commit("one"), b.write("~/r/.git/refs/tags/v1", "x")),
                path=R,
                tag="v1",
            ),
            missing("no repository", nothing, path=R, tag="v1", ref="x"),
            empty("no commits", _empty, path=R, tag="v1"),
            hostile("link to outside", _outside, path=R, tag="v1"),
            hostile("tag and reference missing", _commits("one"), path=R, tag="a", ref="b"),
            another_way("objects from elsewhere", _elsewhere, path=R, tag="v1"),
            *layout_cases(tag="v1"),
            forged(
                "tag object replaced by a different one",
                _impostor("v1", "v0"),
                path=R,
                tag="v0",
                ref="old",
            ),
            another_way("packed", _gathered, path=R, tag="v1"),
            another_way("with git plumbing commands", _plumbed, path=R, tag="v1"),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, tag="v1"
            ),
            *tag_cases(),
        ),
        equivalent={},
    ),
    CaseTable(
        git.git_commit_message_is,
        RepositoryFixture,
        (
            another_way("in Latin-1, as declared", in_latin_1(), path=R, message="café"),
            another_way("in Latin-1, undeclared", in_latin_1(says=False), path=R, message="café"),
            positive(
                "surrounding white space",
                lambda b: (
                    b.start(),
                    b.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", " one \n\n"),
                ),
                path=R,
                message="one",
            ),
            hostile(
                "name that looks like an option",
                _commits("one"),
                path=R,
                message="one",
                ref="--all",
            ).expect_error(),
            positive(
                "last commit",
                _commits("one", "Fix typo\n\nIt was wrong."),
                path=R,
                message="Fix typo\n\nIt was wrong.\n",
            ),
            positive(
                "last commit of a branch",
                lambda b: (b.commit("one"), b.git("branch", "old"), b.commit("two")),
                path=R,
                message="one",
                ref="old",
            ),
            forged(
                "tag with the name of the branch",
                _named_as_the_branch,
                path=R,
                message="one",
                ref="main",
            ),
            positive(
                "branch with the name of a tag",
                _named_as_the_branch,
                path=R,
                message="two",
                ref="refs/heads/main",
            ),
            positive(
                "branch whose full name is the name of a tag",
                _named_wholly,
                path=R,
                message="two",
                ref="refs/heads/main",
            ),
            positive("next to a branch named HEAD", _named_head, path=R, message="two"),
            negative("different message", _commits("two"), path=R, message="one"),
            near_miss(
                "message of the previous commit", _commits("one", "two"), path=R, message="one"
            ),
            near_miss("additional body", _commits("one\n\nbody"), path=R, message="one"),
            near_miss("different letter case", _commits("One"), path=R, message="one"),
            corrupt("broken objects", _broken, path=R, message="one"),
            missing("no repository", nothing, path=R, message="one"),
            missing("missing reference", _commits("one"), path=R, message="one", ref="old"),
            empty("no commits", _empty, path=R, message=""),
            hostile("replaced commit", _redo, path=R, message="Fix"),
            hostile(
                "programs in the git configuration", _config, path=R, message="one"
            ).expect_met(),
            hostile("link to outside", _outside, path=R, message="one"),
            another_way("objects from elsewhere", _elsewhere, path=R, message="one"),
            *layout_cases(message="one"),
            forged(
                "commit object replaced by a different one", _impostor("old"), path=R, message="one"
            ),
            another_way("packed", _gathered, path=R, message="one"),
            another_way("with git plumbing commands", _plumbed, path=R, message="one"),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, message="one"
            ),
            another_way("shallow clone", _fetched, path=R, message="one"),
            *message_cases(),
        ),
        equivalent={"last commit: args.message: cut": "trailing white space is ignored"},
    ),
    CaseTable(
        git.git_commit_count,
        RepositoryFixture,
        (
            positive("three commits", _commits("a", "b", "c"), path=R, count=3),
            positive(
                "commits up to a branch",
                lambda b: (b.commit("a"), b.git("branch", "old"), b.commit("b")),
                path=R,
                count=1,
                ref="old",
            ),
            negative("one commit", _commits("a"), path=R, count=3),
            near_miss("one additional commit", _commits("a", "b", "c", "d"), path=R, count=3),
            near_miss(
                "fewer commits on a different branch",
                lambda b: (b.commit("a"), b.git("branch", "old"), b.commit("b")),
                path=R,
                count=2,
                ref="old",
            ),
            corrupt("broken objects", _broken, path=R, count=1),
            missing("no repository", nothing, path=R, count=0),
            empty("no commits", _empty, path=R, count=0),
            hostile("link to outside", _outside, path=R, count=1),
            another_way("objects from elsewhere", _elsewhere, path=R, count=2),
            *layout_cases(count=2),
            forged("forged parent", _grafted, path=R, count=2),
            forged("hidden parent", _shallow, path=R, count=1),
            forged("shallow clone", _fetched, path=R, count=1),
            forged("commit object replaced by a different one", _impostor("old"), path=R, count=2),
            another_way("packed", _gathered, path=R, count=2),
            another_way("with git plumbing commands", _plumbed, path=R, count=2),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, count=2
            ),
        ),
        equivalent={},
    ),
    CaseTable(
        git.git_commit_changes,
        RepositoryFixture,
        (
            positive(
                "first commit", lambda b: b.commit("one", X="1", a="2"), path=R, files=["a", "X"]
            ),
            missing(
                "missing branch, and a branch named None",
                lambda b: (b.commit("one", a="1"), b.git("branch", "None")),
                path=R,
                files=["a"],
                ref="old",
            ),
            positive(
                "changed and deleted files",
                lambda b: (
                    b.commit("one", a="1", b="1", c="1"),
                    b.git("rm", "-q", "c"),
                    b.commit("two", a="2"),
                ),
                path=R,
                files=["c", "a"],
            ),
            positive(
                "non-ASCII name in a folder",
                lambda b: (b.folder_at("~/r/d"), b.commit("one", **{"d/Übung": "1"})),
                path=R,
                files=["d/Übung"],
            ),
            negative("different file", lambda b: b.commit("one", a="1"), path=R, files=["b"]),
            near_miss(
                "one additional file", lambda b: b.commit("one", a="1", b="1"), path=R, files=["a"]
            ),
            forged("gitlink under the name of the file", _with_gitlink, path=R, files=["a"]),
            near_miss(
                "in the previous commit",
                lambda b: (b.commit("one", a="1"), b.commit("two", b="1")),
                path=R,
                files=["a"],
            ),
            near_miss(
                "not committed",
                lambda b: (b.commit("one", b="1"), b.write("~/r/a", "x")),
                path=R,
                files=["a"],
            ),
            corrupt("broken objects", _broken, path=R, files=["f0"]),
            missing("no repository", nothing, path=R, files=["a"]),
            empty(
                "empty commit",
                lambda b: (
                    b.commit("one", a="1"),
                    b.git("commit", "-q", "--allow-empty", "-m", "x"),
                ),
                path=R,
                files=[],
            ),
            hostile("link to outside", _outside, path=R, files=["f0"]),
            another_way("objects from elsewhere", _elsewhere, path=R, files=["a"]),
            *layout_cases(files=["a"]),
            forged("forged parent", _grafted, path=R, files=["a"]),
            forged("hidden parent", _shallow, path=R, files=["a", "b"]),
            forged(
                "commit object replaced by a different one",
                _impostor("old"),
                path=R,
                files=["a", "z"],
            ),
            another_way("packed", _gathered, path=R, files=["a"]),
            another_way("with git plumbing commands", _plumbed, path=R, files=["a"]),
            another_way(
                "with included configuration from elsewhere", _far_work_tree, path=R, files=["a"]
            ),
        ),
        equivalent={},
    ),
    CaseTable(
        git.git_file_equals,
        RepositoryFixture,
        (
            positive(
                "exactly the text", lambda b: b.commit("one", a="hi\n"), path=R, file="a", text="hi"
            ),
            another_way(
                "on the branch of a linked work tree",
                lambda b: (
                    _linked_tree(b),
                    b.write("~/w/a", "hi\n"),
                    b.git("-C", str(b.at("~/w")), "add", "a"),
                    b.git("-C", str(b.at("~/w")), "commit", "-q", "-m", "two"),
                ),
                path="~/w",
                file="a",
                text="hi",
            ),
            missing(
                "missing branch, and a branch named None",
                lambda b: (b.commit("one", a="hi"), b.git("branch", "None")),
                path=R,
                file="a",
                text="hi",
                ref="old",
            ),
            positive(
                "in an earlier commit",
                lambda b: (
                    b.commit("one", a="hi"),
                    b.git("branch", "old"),
                    b.commit("two", a="ho"),
                ),
                path=R,
                file="a",
                text="hi\n",
                ref="old",
            ),
            negative(
                "different text", lambda b: b.commit("one", a="ho"), path=R, file="a", text="hi"
            ),
            near_miss(
                "only in the work tree",
                lambda b: (b.commit("one", a="ho"), b.write("~/r/a", "hi")),
                path=R,
                file="a",
                text="hi",
            ),
            near_miss(
                "only staged",
                lambda b: (b.commit("one", a="ho"), b.write("~/r/a", "hi"), b.git("add", "a")),
                path=R,
                file="a",
                text="hi",
            ),
            near_miss(
                "additional text",
                lambda b: b.commit("one", a="hi there"),
                path=R,
                file="a",
                text="hi",
            ),
            corrupt(
                "not UTF-8",
                lambda b: (
                    b.start(),
                    b.write("~/r/a", b"hi\xff"),
                    b.git("add", "a"),
                    b.git("commit", "-q", "-m", "x"),
                ),
                path=R,
                file="a",
                text="hi",
            ),
            missing("no repository", nothing, path=R, file="a", text=""),
            missing("missing file", lambda b: b.commit("one", b="hi"), path=R, file="a", text="hi"),
            empty(
                "empty file", lambda b: b.commit("one", a=""), path=R, file="a", text=""
            ).expect_met(),
            empty("no commits", _empty, path=R, file="a", text=""),
            hostile(
                "smudge filter",
                lambda b: (
                    b.commit("one", a="ho"),
                    b.git("config", "filter.t.smudge", "echo hi"),
                    b.write("~/r/.gitattributes", "* filter=t"),
                ),
                path=R,
                file="a",
                text="hi",
            ),
            hostile(
                "folder instead of a file",
                lambda b: (b.folder_at("~/r/d"), b.commit("one", **{"d/a": "hi"})),
                path=R,
                file="d",
                text="hi",
            ),
            hostile("link to outside", _outside, path=R, file="f0", text="one"),
            another_way("objects from elsewhere", _elsewhere, path=R, file="a", text="hi"),
            *layout_cases(file="a", text="hi"),
            forged(
                "blob replaced by a different one",
                _impostor("old:a", "HEAD:a"),
                path=R,
                file="a",
                text="hi",
            ),
            forged(
                "commit object replaced by a different one",
                _impostor("old"),
                path=R,
                file="a",
                text="hi",
            ),
            forged(
                "symbolic link with the text as target",
                lambda b: (
                    b.commit("one", b="x"),
                    b.link("~/r/a", "hi"),
                    b.git("add", "a"),
                    b.git("commit", "-q", "-m", "two"),
                ),
                path=R,
                file="a",
                text="hi",
            ),
            another_way(
                "executable file in a folder",
                lambda b: (
                    b.folder_at("~/r/d"),
                    b.start(),
                    b.write("~/r/d/a", "hi", 0o755),
                    b.commit("one", b="x"),
                ),
                path=R,
                file="d/a",
                text="hi",
            ),
            another_way("packed", _gathered, path=R, file="a", text="hi"),
            another_way("with git plumbing commands", _plumbed, path=R, file="a", text="hi"),
            another_way(
                "with included configuration from elsewhere",
                _far_work_tree,
                path=R,
                file="a",
                text="hi",
            ),
            another_way("shallow clone", _fetched, path=R, file="a", text="hi"),
            *text_cases(),
        ),
        equivalent={"in an earlier commit: args.text: cut": "one trailing newline is ignored"},
    ),
)

TABLES = (*SYSTEM, *NETWORK, *GIT)
