#!/bin/sh
# Convert the root file system of a desktop guest ($1) to a container: no boot, no system
# services, the same session. Runs as root on the build host.
set -eu
root=$1
here=$(dirname "$0")

# Lost while unpacking the disk.
chmod 1777 "$root/tmp" "$root/var/tmp"
# A container accepts no logins and does not use the VM's keys.
rm -rf "$root"/etc/ssh/ssh_host_* "$root/root/.ssh"
: > "$root/etc/fstab"
# A link into /run would point to the build host's file.
rm -f "$root/etc/resolv.conf"
: > "$root/etc/resolv.conf"

install -d "$root/usr/local/lib/mesocosm"
for script in start.sh session.sh warm.sh; do
    install -m 755 "$here/files/$script" "$root/usr/local/lib/mesocosm/$script"
done
# The components of the session; those that serve hardware or services that a container lacks are removed.
install -m 644 "$here/files/gnome-flashback-metacity.session" "$root/usr/share/gnome-session/sessions/"
for name in $(cat "$here/files/left-out"); do
    entry="$root/etc/xdg/autostart/$name.desktop"
    [ ! -e "$entry" ] || printf '[Desktop Entry]\nType=Application\nName=%s\nHidden=true\n' "$name" > "$entry"
done
# Show the background without fading, so that the desktop is ready half a second sooner.
install -m 644 "$here/files/dconf-defaults.ini" "$root/etc/dconf/db/local.d/10-container"
chroot "$root" dconf update
# Initial home folder of every session; warm.sh adds the files that a first session creates.
# Not writable by the user, who could otherwise fill the host's disk there.
install -d -m 700 "$root/usr/local/lib/mesocosm/first"
cp -a "$root/home/user" "$root/usr/local/lib/mesocosm/first/home"
