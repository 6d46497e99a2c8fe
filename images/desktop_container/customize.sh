#!/bin/sh
# Set the root file system of a desktop guest ($1) to run as a container: no boot, no system
# services, the same session. Runs as root on the build host.
set -eu
root=$1
here=$(dirname "$0")

# Dropped on the way off the disk.
chmod 1777 "$root/tmp" "$root/var/tmp"
# Nobody logs in, and the VM's keys are not this machine's.
rm -rf "$root"/etc/ssh/ssh_host_* "$root/root/.ssh"
: > "$root/etc/fstab"
# A link into /run would lead to the build host's.
rm -f "$root/etc/resolv.conf"
: > "$root/etc/resolv.conf"

install -d "$root/usr/local/lib/mesocosm"
for script in start.sh session.sh warm.sh; do
    install -m 755 "$here/files/$script" "$root/usr/local/lib/mesocosm/$script"
done
# The session's own parts; those that speak for hardware or services a container has not are left out.
install -m 644 "$here/files/gnome-flashback-metacity.session" "$root/usr/share/gnome-session/sessions/"
for name in $(cat "$here/files/left-out"); do
    entry="$root/etc/xdg/autostart/$name.desktop"
    [ ! -e "$entry" ] || printf '[Desktop Entry]\nType=Application\nName=%s\nHidden=true\n' "$name" > "$entry"
done
# The background is there at once, and the desktop is ready half a second sooner.
install -m 644 "$here/files/dconf-defaults.ini" "$root/etc/dconf/db/local.d/10-container"
chroot "$root" dconf update
# What every session's home folder begins as; the first session of all adds to it.
# Out of the user's reach, who could otherwise fill the host's disk there.
install -d -m 700 "$root/usr/local/lib/mesocosm/first"
cp -a "$root/home/user" "$root/usr/local/lib/mesocosm/first/home"
