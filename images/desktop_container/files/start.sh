#!/bin/sh
# The container's first program, as root: what a boot would have set up, then the user's session.
set -eu
install -d -m 1777 /tmp/.X11-unix /tmp/.ICE-unix
install -d -m 755 /run/dbus /run/mesocosm /run/user
install -d -m 700 -o 1000 -g 1000 /run/user/1000
dbus-uuidgen > /etc/machine-id
cp -a /usr/local/lib/mesocosm/first/home/. /home/user/
dbus-daemon --system --fork --nopidfile
exec setpriv --reuid=1000 --regid=1000 --init-groups --inh-caps=-all /usr/local/lib/mesocosm/session.sh
