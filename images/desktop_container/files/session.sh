#!/bin/sh
# The graphical session, as the user: X server, bus, GNOME Flashback. Ends when the session ends.
set -eu
set -a
. /etc/environment
. /etc/default/locale
set +a
export HOME=/home/user USER=user LOGNAME=user SHELL=/bin/bash
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games
export XDG_RUNTIME_DIR=/run/user/1000 ICEAUTHORITY=/run/user/1000/ICEauthority XAUTHORITY=/dev/null
export XDG_SESSION_TYPE=x11 XDG_SESSION_CLASS=user XDG_CURRENT_DESKTOP=GNOME-Flashback:GNOME
export XDG_SESSION_DESKTOP=gnome-flashback-metacity DESKTOP_SESSION=gnome-flashback-metacity
export XDG_MENU_PREFIX=gnome-flashback- DISPLAY=:0
export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
cd "$HOME"
Xvfb "$DISPLAY" -screen 0 1280x800x24 -nolisten tcp -ac -noreset 2> /dev/null &
dbus-daemon --session --fork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS"
until [ -S /tmp/.X11-unix/X0 ]; do sleep 0.02; done
# Prevent it from starting the session through systemd; since version 46 it never does.
program=/usr/libexec/gnome-session-binary
builtin=
case $("$program" --help 2> /dev/null) in *--builtin*) builtin=--builtin ;; esac
exec "$program" $builtin --disable-acceleration-check --session=gnome-flashback-metacity
