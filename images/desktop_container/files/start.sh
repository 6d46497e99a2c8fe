#!/bin/sh
# The container's first program, as root: does the setup of a boot, then runs the user's session and
# restarts it when it ends: an agent that ends its session does not stop its machine.
set -eu
install -d -m 1777 /tmp/.X11-unix /tmp/.ICE-unix
install -d -m 755 /run/dbus /run/mesocosm /run/user
dbus-uuidgen > /etc/machine-id
cp -a /usr/local/lib/mesocosm/first/home/. /home/user/
dbus-daemon --system --fork --nopidfile
while true; do
    install -d -m 700 -o 1000 -g 1000 /run/user/1000
    setpriv --reuid=1000 --regid=1000 --init-groups --inh-caps=-all \
        /usr/local/lib/mesocosm/session.sh || true
    pkill -KILL -u 1000 || true
    sleep 1
    rm -rf /run/user/1000 /tmp/.X0-lock /tmp/.X11-unix/X0
done
