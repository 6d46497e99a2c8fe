#!/bin/sh
# Start libvirtd with its socket in the appliance's state folder; end with its virtual machines.
set -eu
run=${MESOCOSM_STATE_DIR:?}/run/libvirt
mkdir -p "$run" /run/libvirt /var/run/libvirt
rm -f "$run"/libvirt-sock* "$run"/libvirt-admin-sock
{ cat /etc/libvirt/libvirtd.conf; printf 'unix_sock_dir = "%s"\n' "$run"; } > /run/libvirtd.conf
virtlogd --daemon
exec libvirtd --config /run/libvirtd.conf
