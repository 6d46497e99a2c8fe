"""Forged system states, and legitimate ones that other programs create."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, corrupt, forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from evaluators.testing.desktop import DesktopFixture
    from provisioning.protocols import Json

_STATUS = "/var/lib/dpkg/status"
_CRON = "/var/spool/cron/crontabs/user"
_ZONES = "/usr/share/zoneinfo"


def _file(path: str, content: str | bytes) -> State:
    return lambda b: b.write(path, content)


def _all(*states: State) -> State:
    return lambda b: [state(b) for state in states]


def _package(name: str = "gimp", status: str = "install ok installed", *more: str) -> str:
    return "\n".join([f"Package: {name}", f"Status: {status}", "Version: 2.1", *more, "", ""])


def _status(*packages: str) -> State:
    return _file(_STATUS, "".join(packages))


def package_installed() -> tuple[Case, ...]:
    """Return cases of `package_installed`."""
    args: dict[str, Json] = {"name": "gimp"}
    program = "~/.local/bin/gimp"
    return (
        forged("program without its package", lambda b: b.write(program, "x", 0o755), **args),
        forged(
            "in a user-created database",
            _all(_status(_package("vim")), _file("~/dpkg/status", _package())),
            **args,
        ),
        forged("package only unpacked", _status(_package(status="install ok unpacked")), **args),
        forged("broken package", _status(_package(status="install reinstreq installed")), **args),
        forged(
            "package only selected", _status(_package(status="install ok not-installed")), **args
        ),
        forged(
            "line in a description",
            _status(_package("vim", "install ok installed", "Description: x\u2028" + _package())),
            **args,
        ),
        forged(
            "different package that provides it",
            _status(_package("vim", "install ok installed", "Provides: gimp")),
            **args,
        ),
        another_way(
            "entries for two architectures",
            _status(_package(), _package(status="deinstall ok config-files")),
            **args,
        ),
        another_way(
            "older version for a different architecture",
            _status(_package(), _package().replace("2.1", "2.0")),
            **args,
            version="2.1",
        ),
        another_way(
            "installed but selected for removal",
            _status(_package(status="deinstall ok installed")),
            **args,
        ),
        another_way(
            "fields in a different order",
            _status("Version: 2.1\nStatus: install ok installed\nPackage: gimp\n"),
            **args,
        ),
    )


def package_absent() -> tuple[Case, ...]:
    """Return cases of `package_absent`."""
    args: dict[str, Json] = {"name": "gimp"}
    other = _package("vim")
    return (
        forged(
            "only selected for removal",
            _status(other, _package(status="deinstall ok installed")),
            **args,
        ),
        forged(
            "removal interrupted",
            _status(other, _package(status="purge ok half-configured")),
            **args,
        ),
        forged(
            "package only unpacked", _status(other, _package(status="install ok unpacked")), **args
        ),
        forged(
            "program deleted, package installed",
            _all(_status(other, _package()), _file("/usr/share/x", "")),
            **args,
        ),
        forged(
            "removed for one of two architectures",
            _status(other, _package(status="purge ok not-installed"), _package()),
            **args,
        ),
        forged("truncated entry", _status(other, "Package: gimp\nStatus: deinstall ok\n"), **args),
        another_way("purged", _status(other, _package(status="purge ok not-installed")), **args),
        another_way(
            "configuration files remain",
            _status(other, _package(status="hold ok config-files")),
            **args,
        ),
        another_way("data package installed", _status(other, _package("gimp-data")), **args),
    )


def user_exists() -> tuple[Case, ...]:
    """Return cases of `user_exists`."""
    args: dict[str, Json] = {"name": "bob", "shell": "/bin/bash", "home": "/srv/bob"}
    bob = "bob:x:1001:1001::/srv/bob:/bin/bash\n"

    def passwd(text: str) -> State:
        return _file("/etc/passwd", text)

    return (
        forged("second entry", passwd(bob.replace("bash", "false") + bob), **args),
        forged("missing user ID", passwd(bob.replace("x:1001", "x:")), **args),
        forged("user ID with non-ASCII digits", passwd(bob.replace("x:1001", "x:\u0661")), **args),
        forged(
            "home folder without a user",
            _all(passwd("root:x:0:0::/root:/bin/sh\n"), lambda b: b.folder_at("/srv/bob")),
            **args,
        ),
        forged(
            "only a shadow entry",
            _all(passwd(""), _file("/etc/shadow", "bob:*:1:0:9:7:::\n")),
            **args,
        ),
        forged("line separator in the full name", passwd(f"eve:x:1:1:x\u2028{bob}"), **args),
        forged("commented out", passwd(f"#{bob}"), **args),
        another_way(
            "alternative path of the shell",
            passwd(bob.replace("/bin/bash", "/usr/bin/bash")),
            **args,
        ),
        another_way(
            "alternative path in an sbin folder",
            passwd(bob.replace("/bin/bash", "/usr/sbin/nologin")),
            **{**args, "shell": "/sbin/nologin"},
        ),
        another_way(
            "expected folder with a trailing slash", passwd(bob), name="bob", home="/srv/bob/"
        ),
        another_way(
            "home folder below /usr",
            passwd(bob.replace("/srv", "/usr/srv")),
            name="bob",
            home="/usr/srv/bob",
        ),
        another_way(
            "created by adduser, with a full name", passwd(bob.replace("::", ":Bob,,,:")), **args
        ),
        another_way(
            "system user",
            passwd(bob.replace("1001", "999")),
            **{**args, "shell": "/usr/sbin/../bin/bash"},
        ),
    )


def user_in_group() -> tuple[Case, ...]:
    """Return cases of `user_in_group`."""
    args: dict[str, Json] = {"user": "bob", "group": "audio"}

    def lists(group: str, first: str = "1001") -> State:
        return _all(
            _file(
                "/etc/passwd", f"bob:x:1001:{first}::/srv/bob:/bin/sh\nbob:x:1001:29::/:/bin/sh\n"
            ),
            _file("/etc/group", group),
        )

    return (
        forged("duplicate group", lists("audio:x:29:\naudio:x:99:bob\n"), **args),
        forged("duplicate user", lists("audio:x:29:\n"), **args),
        forged(
            "only as an administrator of the group",
            _all(lists("audio:x:29:\n"), _file("/etc/gshadow", "audio:!:bob:\n")),
            **args,
        ),
        forged("missing group ID", lists("audio:x::bob\n"), **args),
        forged("line separator in a member list", lists("x:x:1:eve\u2028audio:x:29:bob\n"), **args),
        another_way("as the primary group", lists("audio:x:29:\n", "29"), **args),
        another_way("among other members", lists("audio:x:29:pulse,bob,eve\n"), **args),
        another_way(
            "group with the same ID and a different name",
            lists("audio:x:29:\nsound:x:29:bob\n"),
            **args,
        ),
    )


def _crontab_of(uid: int) -> State:
    """Write a crontab, owned by the current user, and give the user an id."""
    return _all(
        _file("/etc/passwd", f"user:x:{uid}:{uid}::/home/user:/bin/bash\n"),
        _file(_CRON, "0 8 * * * /bin/backup\n"),
    )


def cron_has_job() -> tuple[Case, ...]:
    """Return cases of `cron_has_job`."""
    args: dict[str, Json] = {"schedule": "0 8 * * *", "command": "/bin/backup"}
    days: dict[str, Json] = {**args, "schedule": "0 8 * * 1-5"}
    month: dict[str, Json] = {**args, "schedule": "0 0 1 1 *"}

    job = "0 8 * * * /bin/backup\n"

    def tab(text: str) -> State:
        return _file(_CRON, text)

    def other(schedule: str, /, **wanted: Json) -> Case:
        return another_way(f"as {schedule}", tab(f"{schedule} /bin/backup\n"), **wanted)

    def never(schedule: str, /, **wanted: Json) -> Case:
        return forged(f"as {schedule}", tab(f"{schedule} /bin/backup\n"), **wanted)

    return (
        forged("crontab file owned by a different user", _crontab_of(os.getuid() + 1), **args),
        another_way("crontab file owned by the user", _crontab_of(os.getuid()), **args),
        forged("shell that does nothing", tab("SHELL=/bin/true\n0 8 * * * /bin/backup\n"), **args),
        *(
            forged(
                f"after {name}",
                tab(f"SHELL=/bin/bash\n{name}=/tmp/x\nSHELL=/bin/sh\n0 8 * * * /bin/backup\n"),
                **args,
            )
            for name in ("BASH_ENV", "LD_PRELOAD", "SHELLOPTS")
        ),
        another_way(
            "before a variable for later jobs",
            tab("ENVIRONMENT=x\n0 8 * * * /bin/backup\nBASH_ENV=/tmp/x\n"),
            **args,
        ),
        forged(
            "user-created shell",
            tab("'SHELL' = \"/home/user/bin/sh\"\n0 8 * * * /bin/backup\n"),
            **args,
        ),
        forged("without a trailing newline", tab("MAILTO=x\n0 8 * * * /bin/backup"), **args),
        *(
            forged(
                f"next to {line!r}, so that cron rejects the crontab", tab(f"{job}{line}"), **args
            )
            for line in (
                "zz is bad\n",
                "61 * * * * x\n",
                "@never x\n",
                "5, * * * * x\n",
                "5/2 * * * * x\n",
                "* * *\n",
                "hello\n",
                "MY VAR=1\n",
                "0 0 * * monday x\n",
                "X=1",
                "MAILTO=\n",
                "X='a\n",
                'X="a" b\n',
                "1,,2 * * * * x\n",
                "5- * * * * x\n",
                "1-5/ * * * * x\n",
                "*/0 * * * * x\n",
                "0 0 * * 0-8 x\n",
                "~ 0 * * * x\n",
            )
        ),
        *(
            another_way(f"next to {line!r}", tab(f"{job}{line}"), **args)
            for line in (
                "# end",
                "  ",
                "5-1 * * * * x\n",
                "* * * * *\n",
                "@daily\n",
                "0 0 31 2 * x\n",
                'MAILTO=""\n',
                "=1\n",
                "'X Y'=a b\n",
                "1-5-7 * * * * x\n",
                "0 0 * * 1#2 x\n",
                "0 0 * * fri-mon x\n",
                "00000 0 * * */9 x\n",
            )
        ),
        forged("line separator in a comment", tab("# x\u20280 8 * * * /bin/backup\n"), **args),
        forged("carriage return in the command", tab("0 8 * * * /bin/backup\r\n"), **args),
        forged("draft in the home folder", _file("~/crontab", "0 8 * * * /bin/backup\n"), **args),
        forged("variable with that text", tab("X=0 8 * * * /bin/backup\n"), **args),
        forged(
            "program not found in PATH",
            tab("PATH=/nonexistent\n0 8 * * * A=1 backup\n"),
            **{**args, "command": "A=1 backup"},
        ),
        another_way(
            "by absolute path, after a variable",
            tab("PATH=/nonexistent\n0 8 * * * A=1 /bin/backup\n"),
            **{**args, "command": "A=1 /bin/backup"},
        ),
        never("0 8 */2 * 1", **{**args, "schedule": "0 8 1-31/2 * 1"}),
        forged("empty PATH", tab('PATH=""\n0 8 * * * backup\n'), **{**args, "command": "backup"}),
        another_way(
            "program in a user folder of PATH",
            lambda b: (
                tab("PATH=/srv/bin:/home/user/bin\n0 8 * * * backup -a\n")(b),
                b.write("~/bin/backup", "x", 0o755),
            ),
            **{**args, "command": "backup -a"},
        ),
        *(
            another_way(
                f"program name with only {folder} in PATH",
                tab(f"PATH={folder}\n0 8 * * * backup\n"),
                **{**args, "command": "backup"},
            )
            for folder in ("/bin", "/usr/bin")
        ),
        another_way(
            "program name with the system folders in PATH",
            tab("PATH=/srv/bin:/usr/bin:/bin\n0 8 * * * backup\n"),
            **{**args, "command": "backup"},
        ),
        another_way(
            "absolute path, regardless of PATH",
            tab("PATH=/nonexistent\n0 8 * * * /bin/backup\n"),
            **args,
        ),
        other("0 8 * * 0-7", **args),
        other("0 8 1-31 * 1", **args),
        other("0 8 5 * sun-sat", **args),
        never("0 8 1-30 * 1", **args),
        never("0 8 1 * *", **args),
        never("0 8 * * 0-6,1", **{**args, "schedule": "0 8 1 * *"}),
        never("0 8 * * 1", **{**args, "schedule": "0 8 1-31 * 1"}),
        never("0 8 1 * 1", **{**args, "schedule": "0 8 1 * *"}),
        never("0 8-7 * * *", **args),
        never("0/5 8 * * *", **args),
        never("0 8 * mon *", **args),
        never("0 8 ? * *", **args),
        never("0 8 1 * 0,2,4,6", **{**args, "schedule": "0 8 1 * */2"}),
        never("@reboot", **args),
        other("00 08 * * *", **args),
        other(
            "0 8 1 jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec *",
            **{**args, "schedule": "0 8 1 1-12 *"},
        ),
        other("0 8 * * sun,mon,tue,wed,thu,fri,sat", **{**args, "schedule": "0 8 * * 0-6"}),
        other("0,0 8-8 */1 1-12 0-7/1", **{**args, "schedule": "0 8 * * 0-6"}),
        other("0 8 * * MON-FRI", **days),
        other("0 8 * * 1-5-7,0", **days),
        other("0 8 * * 1,2-5#0,0", **days),
        other("0 8 * * 1,2,3,4,Fri", **days),
        other("0 8 * jan-DEC/11 7", **{**args, "schedule": "0 8 * 1,12 sun"}),
        other("*/30 8 * * *", **{**args, "schedule": "0,30 8 * * *"}),
        other("0-59/30\t \t8  * * *", **{**args, "schedule": " 0,30  8 * * *"}),
        other("@yearly", **month),
        other("@annually", **month),
        other("@monthly", **{**args, "schedule": "0 0 1 * *"}),
        other("0 0 * * 7", **{**args, "schedule": "@weekly"}),
        other("@midnight", **{**args, "schedule": "@daily"}),
        other("0 * * * *", **{**args, "schedule": "@hourly"}),
        another_way(
            "at system start", tab("@reboot /bin/backup\n"), **{**args, "schedule": "@reboot"}
        ),
        another_way(
            "different shell", tab("SHELL=/usr/bin/zsh\nX = y\n0 8 * * * /bin/backup\n"), **args
        ),
        another_way(
            "shell set after the job",
            tab("0 8 * * * /bin/backup\nSHELL=/bin/true\n"),
            **args,
        ),
        another_way(
            "shell reset before the job",
            tab("SHELL=/bin/true\nSHELL=/bin/sh\n 0 8 * * * /bin/backup \n"),
            **args,
        ),
        another_way(
            "command that sets a variable",
            tab("0 8 * * * A=1 /bin/backup\n"),
            **{**args, "command": "A=1 /bin/backup"},
        ),
        *(
            corrupt(
                f"invalid expected time: {schedule}", tab(""), **{**args, "schedule": schedule}
            ).expect_error()
            for schedule in (
                "60 8 * * *",
                "0 24 * * *",
                "0 8 32 * *",
                "0 8 0 * *",
                "0 8 * 13 *",
                "0 8 * 0 *",
                "0 8 * * 8",
            )
        ),
        corrupt(
            "invalid keyword", tab("@noon /bin/backup\n"), **{**args, "schedule": "@noon"}
        ).expect_error(),
    )


def hostname_is() -> tuple[Case, ...]:
    """Return cases of `hostname_is`."""
    args: dict[str, Json] = {"name": "atelier"}

    def hostname(text: str) -> State:
        return _file("/etc/hostname", text)

    return (
        forged(
            "only until the next boot",
            _all(hostname("desk\n"), _file("/proc/sys/kernel/hostname", "atelier\n")),
            **args,
        ),
        forged(
            "only the pretty host name",
            _all(hostname("desk\n"), _file("/etc/machine-info", "PRETTY_HOSTNAME=atelier\n")),
            **args,
        ),
        forged("line separator in a comment", hostname("# x\u2028atelier\n"), **args),
        forged("indented comment", hostname(" # atelier\n"), name="# atelier"),
        another_way("comment, and no trailing newline", hostname("  # x\n\tatelier"), **args),
        another_way("upper case and CRLF", hostname("Atelier\r\n"), **args),
        another_way("expected name in upper case", hostname("atelier\n"), name="ATELIER"),
    )


def timezone_is() -> tuple[Case, ...]:
    """Return cases of `timezone_is`."""
    args: dict[str, Json] = {"zone": "Europe/Zurich"}

    def zone(target: str, *names: str) -> State:
        def state(b: DesktopFixture) -> None:
            b.folder_at("/etc")
            for name in names:
                b.write(f"{_ZONES}/{name}", f"TZif2 {name}")
            b.write(
                f"{_ZONES}/tzdata.zi",
                "# x\nL Asia/Kolkata Asia/Calcutta\nL\nZ Europe/Zurich Asia/Tokyo 0\n",
            )
            b.at("/etc/localtime").symlink_to(target)

        return state

    def copy(content: str) -> State:
        return _all(
            _file(f"{_ZONES}/Asia/Kolkata", "TZif2 x"),
            _file(f"{_ZONES}/tzdata.zi", "L Asia/Kolkata Asia/Calcutta\n"),
            _file("/etc/localtime", content),
        )

    return (
        forged("missing time zone", zone(f"{_ZONES}/Europe/Zurich"), **args),
        forged(
            "with leap seconds",
            zone(f"{_ZONES}/right/Europe/Zurich", "right/Europe/Zurich"),
            **args,
        ),
        forged(
            "only in /etc/timezone",
            _all(zone(f"{_ZONES}/UTC", "UTC"), _file("/etc/timezone", "Europe/Zurich\n")),
            **args,
        ),
        forged(
            "path outside the time zone folder",
            zone(f"{_ZONES}/../../../srv/Europe/Zurich", "../../../srv/Europe/Zurich"),
            **args,
        ),
        forged("copy of a different time zone", copy("TZif2 y"), zone="Asia/Kolkata"),
        forged(
            "different time zone with an alias", zone(f"{_ZONES}/Asia/Tokyo", "Asia/Tokyo"), **args
        ),
        another_way(
            "relative link with redundant parts",
            zone(f"../usr/lib/..{_ZONES[4:]}/posix/Europe/Zurich", "posix/Europe/Zurich"),
            **args,
        ),
        another_way(
            "link to an alias",
            zone(f"{_ZONES}/Asia/Calcutta", "Asia/Calcutta"),
            zone="Asia/Kolkata",
        ),
        another_way(
            "expected time zone is an alias",
            zone(f"{_ZONES}/Asia/Kolkata", "Asia/Kolkata"),
            zone="Asia/Calcutta",
        ),
        another_way("copy of the time zone file", copy("TZif2 x"), zone="Asia/Kolkata"),
        another_way(
            "copy, and expected time zone is an alias", copy("TZif2 x"), zone="Asia/Calcutta"
        ),
    )


def shell_history_has() -> tuple[Case, ...]:
    """Return cases of `shell_history_has`."""
    args: dict[str, Json] = {"command": "ls -l"}

    def history(text: str) -> State:
        return _file("~/.bash_history", text)

    return (
        forged("in a here document", history("cat <<EOF\nx\nls -l\nEOF\n"), **args),
        forged(
            "in a second here document",
            history("cat <<EOF\nx\nEOF\ncat > a <<-  'E_1'\nls -l\n\tE_1\ncd\n"),
            **args,
        ),
        forged("in a comment", history(" # x\n#ls -l\n # ls -l\n"), command="# ls -l"),
        forged("after a line separator within a line", history("echo x\u2028ls -l\n"), **args),
        forged("as an argument", history("echo 'ls -l'\necho ls -l\n"), **args),
        *(
            forged(f"inside {text!r}", history(text), **args)
            for text in (
                'echo "\nls -l\n"\n',
                "echo x '\nls -l\n' # it's\n",
                'echo "\\"\nls -l\n"\n',
                "echo \\\nls -l\n",
                "x=`\nls -l\n`\n",
                "x=${y:-\nls -l\n}\n",
                "coproc {\nls -l\n}\n",
                "true |&\nls -l\n",
                "time -p {\nls -l\n}\n",
                "if false; then {\nls -l\n} fi\n",
                "while false; do {\nls -l\n} done\n",
                "cat <<$'E'\nls -l\nE\n",
                'cat <<$"E"\nls -l\nE\n',
                "coproc X {\nls -l\n}\n",
                "function f {\nls -l\n}\n",
                "time {\nls -l\n}\n",
                "true ||\nls -l\n",
                "true |\nls -l\n",
                "false &&\nls -l\n",
                "cat <<-'A B'\nls -l\nA B\n",
                'cat <<"A-1" <<B\nx\nA-1\nls -l\nB\n',
                "cat <<A-1\nls -l\nA-1\n",
                "cat <<''\nls -l\n\n",
                "cat <<XX\nls -l\nXX\n",
                'cat <<X"Y"Z\nls -l\nXYZ\n',
                "cat 3<<X\\YZ\nls -l\nXYZ\n",
                "cat <<''X'Y Z'\nls -l\nXY Z\n",
                "cat <<-XX\nls -l\nXX\n",
                "cat <<A\n\tA\nls -l\nA\n",
                "if false; then\nls -l\nfi\n",
                "while false\ndo\nif true; then echo; fi\nls -l\ndone\n",
                "f() {\nls -l\n}\n",
                "true || (\nls -l\n)\n",
                "(\nls -l\necho x)\n",
                "! if true; then\nls -l\nfi\n",
                "if false; then if false; then echo\nfi\nls -l\nfi\n",
                "if true; then echo\nelse if true; then echo; fi\nls -l\nfi\n",
                "if true; then echo\nelif if true; then echo; fi; then\nls -l\nfi\n",
                "while if false; then echo\nls -l\nfi; do echo; done\n",
                "until if true; then\nls -l\nfi; do echo; done\n",
                "case x in\ny)\nls -l\n;;\nesac\n",
                "if false; then echo 'x\n'; then\nls -l\nfi\n",
                "#1700000000\necho '\nls -l\n'\n",
                "echo $'it\\'s\nls -l\n'\n",
                "echo $'\nit\\'s\nls -l\n'\n",
                "echo $$'\nls -l\n'\n",
            )
        ),
        forged(
            "after too many unclosed constructs", history("echo $(\n" * 999 + "ls -l\n"), **args
        ),
        forged("different quoting", history("ls '*'\n"), command="ls *"),
        *(
            another_way(f"after {text!r}", history(f"{text}\nls -l\necho done fi\n"), **args)
            for text in (
                "echo it's",
                "echo it's # it's",
                "ls # it's",
                "echo if",
                "echo {a,b} ${x}",
                "if true; then echo; fi",
                "for f in *; do echo; done",
                "f() { echo; }",
                'echo "a\nb"',
                "echo \\'",
                "echo $'it\\'s'",
                "echo $'x\ny'",
                "echo $$'it\\'",
                "echo x\\\ny",
                "while true",
                "cat <<A\n'\nA",
                "# x",
            )
        ),
        another_way(
            "after a program named by a variable", history("$do it\nls -l\ndone\n"), **args
        ),
        another_way(
            "with timestamps, after an unclosed quote",
            history("#1700000000\necho it's\n#1700000001\nls -l\n#1700000002\necho it's\n"),
            **args,
        ),
        another_way("additional white space", history("ls \t -l\n"), **args),
        another_way("with timestamps", history("#1700000000\ncd\n#1700000001\nls -l\n"), **args),
        another_way("after a here document", history("cat <<EOF\nx\nEOF\nls -l\n"), **args),
        another_way(
            "after an operator that looks like a here document",
            history("echo $((1<<x))\nls -l\n"),
            **args,
        ),
        another_way("after a command substitution", history("echo `date`\nls -l\n"), **args),
        another_way("after escaped characters", history("echo \\`x \\${\nls -l\n}\n"), **args),
        another_way(
            "after a parameter expansion", history("echo ${x:-y} ${z}\nls -l\n}\n"), **args
        ),
        another_way(
            "after reserved words as arguments",
            history("echo function coproc {\nls -l\n}\n"),
            **args,
        ),
        another_way("after a coprocess", history("coproc { date; }\nls -l\n}\n"), **args),
        another_way("after a here string", history("cat <<<x\nls -l\nx\n"), **args),
        another_way(
            "after a quoted here-document operator", history("x\necho '<<x'\nls -l\n"), **args
        ),
        another_way("unclosed quote", history("echo  it's\n"), command="echo it's"),
    )
