"""Scripts of attacks on evaluators of settings."""

from __future__ import annotations

from tests.attacks.model import NO_TOOL

INTERFACE = "org.gnome.desktop.interface"
FLASHBACK = "org.gnome.gnome-flashback.desktop"

SCHEMAS = f"""
command -v glib-compile-schemas > /dev/null || {{ echo {NO_TOOL}; exit 0; }}
folder=.local/share/glib-2.0/schemas
mkdir -p $folder
cp /usr/share/glib-2.0/schemas/{INTERFACE}.gschema.xml \
   /usr/share/glib-2.0/schemas/org.gnome.desktop.enums.xml $folder
sed -i '/name="color-scheme"/,/<\\/key>/s/<default>.*<\\/default>/<default>"prefer-dark"<\\/default>/' \
    $folder/{INTERFACE}.gschema.xml
glib-compile-schemas $folder
gsettings get {INTERFACE} color-scheme
"""

PROFILE = f"""
command -v dconf > /dev/null || {{ echo {NO_TOOL}; exit 0; }}
mkdir -p .config/dconf keys "$XDG_RUNTIME_DIR/dconf"
printf '[org/gnome/desktop/interface]\\ncolor-scheme="prefer-dark"\\n' > keys/red
dconf compile .config/dconf/red keys
echo user-db:red > "$XDG_RUNTIME_DIR/dconf/profile"
gsettings get {INTERFACE} color-scheme
"""

# Watches for helper programs of the same user, stops them, and overwrites the code at their program
# counter with write(1, answer), exit_group(0), for x86-64.
IMPERSONATE = r"""
cat > answer.py << 'END'
import os, signal
own, done = os.getuid(), set(os.listdir("/proc"))
open("watching", "w").close()
CODE = "488d351a000000bf01000000ba0e000000b8010000000f0531ffb8e70000000f05"
def text(path):
    with open(path) as file:
        return file.read()
def answer(base, pid):
    os.kill(pid, signal.SIGSTOP)
    open("seen", "w").close()
    while text(base + "stat").rpartition(")")[2].split()[0] != "T":
        pass
    place = int(text(base + "syscall").split()[-1], 16)
    with open(base + "mem", "r+b", 0) as memory:
        memory.seek(place)
        memory.write(bytes.fromhex(CODE) + b"'prefer-dark'\n")
while True:
    for name in set(os.listdir("/proc")) - done:
        base = "/proc/%s/" % name
        try:
            if text(base + "comm").strip() in ("gsettings", "dconf") and os.stat(base).st_uid == own:
                done.add(name)
                try:
                    answer(base, int(name))
                finally:
                    os.kill(int(name), signal.SIGCONT)
        except (OSError, ValueError):
            pass
END
python3 answer.py
"""

# Sends a signal to helper programs of the same user. In Python, which is faster than a shell.
SIGNAL = r"""
cat > endless.py << 'END'
import os, signal
own = os.getuid()
with open("/proc/sys/kernel/pid_max") as file:
    pids = int(file.read())
open("watching", "w").close()
while True:
    # A helper runs only briefly, so it is one of the newest. Numbers wrap around at the maximum.
    with open("/proc/loadavg") as file:
        last = int(file.read().split()[-1])
    names = filter(str.isdecimal, os.listdir("/proc"))
    for name in sorted(names, key=lambda name: (last - int(name)) % pids)[:40]:
        try:
            with open("/proc/%s/comm" % name) as file:
                if file.read().strip() in ("gsettings", "dconf") and os.stat("/proc/" + name).st_uid == own:
                    os.kill(int(name), signal.SIG{signal})
                    open("seen", "w").close()
        except (OSError, ValueError):
            pass
END
exec python3 endless.py
"""

CORRUPT = """
mkdir -p .config/dconf
rm -f .config/dconf/user; head -c 100000 /dev/urandom > .config/dconf/user
printf 'GVariant' | dd of=.config/dconf/user conv=notrunc 2> /dev/null
rm -rf "$XDG_RUNTIME_DIR/dconf"; mkdir "$XDG_RUNTIME_DIR/dconf" && mkfifo "$XDG_RUNTIME_DIR/dconf/user"
"""

UNDRAWN = f"""
gsettings writable {FLASHBACK} draw-background 2> /dev/null | grep -q true || {{ echo {NO_TOOL}; exit 0; }}
printf '\\211PNG\\r\\n\\032\\n' > lake.png
for key in picture-uri picture-uri-dark; do
    gsettings set org.gnome.desktop.background $key "file://$HOME/lake.png"
done
gsettings set org.gnome.desktop.background picture-options zoom
gsettings set {FLASHBACK} draw-background false
"""

START_AT_LOGIN = r"""
mkdir -p .config/autostart
printf '[Desktop Entry]\nType=Application\nName=x\nExec=/usr/bin/xdotool\n' > .config/autostart/x.desktop
"""
_MOVE = "XDG_CONFIG_HOME=$HOME/other"
MOVED_CONFIGURATION = {
    "`~/.xsessionrc`": f"echo 'export {_MOVE}' > .xsessionrc",
    "a script that `~/.profile` runs": f"echo 'export {_MOVE}' > more; echo '. ~/more' >> .profile",
    "`environment.d`": "mkdir -p .config/environment.d; "
    f"echo '{_MOVE}' > .config/environment.d/x.conf",
}
