#!/bin/sh
# Keep libvirtd running, with its socket in the appliance's state folder. Virtual machines survive
# a restart of libvirtd, which reconnects to them, and end with this script.
set -eu
run=${MESOCOSM_STATE_DIR:?}/run/libvirt
mkdir -p "$run" /run/libvirt /var/run/libvirt
rm -f "$run"/libvirt-sock* "$run"/libvirt-admin-sock
{ cat /etc/libvirt/libvirtd.conf; printf 'unix_sock_dir = "%s"\n' "$run"; } > /run/libvirtd.conf
virtlogd --daemon
trap 'kill "$pid" 2> /dev/null; exit 0' TERM INT
while :; do
	libvirtd --config /run/libvirtd.conf &
	pid=$!
	wait "$pid" || echo "libvirtd exited with $?; restarting it" >&2
	sleep 1
done
