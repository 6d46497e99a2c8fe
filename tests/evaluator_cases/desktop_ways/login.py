"""Files read at a login that move the user's configuration, and harmless ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State

_MOVED = "XDG_CONFIG_HOME=$HOME/other"
_PROFILE = """# ~/.profile: executed by the command interpreter for login shells.
if [ -n "$BASH_VERSION" ]; then
    if [ -f "$HOME/.bashrc" ]; then
\t. "$HOME/.bashrc"
    fi
fi
if [ -d "$HOME/bin" ] ; then
    PATH="$HOME/bin:$PATH"
fi
"""
_FORGED = {
    **{
        f"{line!r} in {name}": {name: f"{line}\n"}
        for name in ("~/.profile", "~/.xprofile", "~/.xsessionrc", "~/.gnomerc", "~/.xinputrc")
        for line in (f"export {_MOVED}", ". ~/more")
    },
    **{
        f"{line!r} in .xsessionrc": {"~/.xsessionrc": f"# mine\n{line}\n"}
        for line in (
            "XDG_CONFIG_HOME=",
            "HOME=/tmp",
            "export A=1 XDG_CONFIG_HOME=/tmp",
            "A=${XDG_CONFIG_HOME:=/tmp}",
            'A="$(echo x)"',
            "A=1; XDG_CONFIG_HOME=/tmp",
            'export "XDG_CONFIG_HOME=/tmp"',
            "XDG_CONFIG_\\\nHOME=/tmp",
            "BASH_VERSION=1",
            "ENV=~/more",
            "export LD_PRELOAD=/home/user/x.so",
            "LD_LIBRARY_PATH=/home/user",
            "set -a",
        )
    },
    "default profile with a moved configuration": {
        "~/.profile": f"{_PROFILE}{_MOVED}\n",
        "/etc/skel/.profile": _PROFILE,
    },
    "default profile, but not the system's": {"~/.profile": _PROFILE},
    "environment.d": {"~/.config/environment.d/a.conf": f"{_MOVED}\n"},
    "environment.d, with a substitution": {
        "~/.config/environment.d/a.conf": "A=${B:-1}\n",
    },
    "file as environment.d": {"~/.config/environment.d": "x"},
    ".pam_environment": {"~/.pam_environment": "XDG_CONFIG_HOME DEFAULT=@{HOME}/other\n"},
    ".pam_environment, indented, after other lines": {
        "~/.pam_environment": "EDITOR DEFAULT=vim\n  XDG_CONFIG_HOME=/tmp\n"
    },
    ".pam_environment over two lines": {
        "~/.pam_environment": "XDG_CONFIG_\\\nHOME DEFAULT=/tmp\n",
    },
    "systemd's settings": {
        "~/.config/systemd/user.conf.d/a.conf": f"[Manager]\nDefaultEnvironment={_MOVED}\n"
    },
    "systemd's only file of settings": {"~/.config/systemd/user.conf": "[Manager]\n"},
    "settings that systemctl stored": {
        "~/.config/systemd/user.control/gnome-session.service.d/a.conf": "[Service]\n"
    },
    "settings of the session's service": {
        "~/.config/systemd/user/gnome-session-manager@.service.d/a.conf": "[Service]\n"
    },
    "settings of all services": {"~/.local/share/systemd/user/service.d/a.conf": "[Service]\n"},
    "script that is not text": {"~/.xsessionrc": "\udcff"},
}
_HONEST = {
    "default profile": {"~/.profile": _PROFILE, "/etc/skel/.profile": _PROFILE},
    "default profile with more variables": {
        "~/.profile": f'{_PROFILE}\nexport EDITOR=/usr/bin/vim # mine\nPATH="$HOME/my bin:$PATH"\n',
        "/etc/skel/.profile": _PROFILE,
    },
    **{
        f"{line!r} in .xsessionrc": {"~/.xsessionrc": f"# {_MOVED}\n\n{line}\n"}
        for line in (
            "export XDG_CONFIG_HOME=$HOME/.config",
            'XDG_CONFIG_HOME="${HOME}/.config/"',
            "XDG_CONFIG_HOME=/home/user/.config",
            "XDG_CONFIG_HOME=~/.config",
            "XDG_CONFIG_HOME='/home/user/.config'",
            "export GTK_THEME='Adwaita dark'",
        )
    },
    "input method": {"~/.xinputrc": "# im-config(8) generated\nrun_im ibus\n"},
    "environment.d": {
        "~/.config/environment.d/a.conf": "EDITOR=vim\n",
        "~/.config/environment.d/a.conf.bak": f"{_MOVED}\n",
    },
    ".pam_environment": {"~/.pam_environment": "EDITOR DEFAULT=vim\n"},
    "service of the user's own": {
        "~/.config/systemd/user/sync.service": "[Service]\n",
        "~/.config/systemd/user/gnome-session.target.wants/sync.service": "[Service]\n",
    },
}


def _with(entry: State, files: dict[str, str]) -> State:
    def state(b: Any) -> None:
        entry(b)
        for path, content in files.items():
            b.write(path, content.encode(errors="surrogateescape"))

    return state


def login_cases(entry: State, **args: Any) -> tuple[Case, ...]:
    """Return cases of a met state of autostart with further files."""
    return (
        *(
            forged(f"moved by {name}", _with(entry, files), **args)
            for name, files in _FORGED.items()
        ),
        *(
            another_way(f"not moved: {name}", _with(entry, files), **args)
            for name, files in _HONEST.items()
        ),
    )
