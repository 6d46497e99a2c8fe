#!/bin/sh
# Runs as the last act of cloud-init: does the work of $1 and hands what lies in $OUT to the host,
# as a tar on the answer disk. The host takes "status" for the outcome.
here=${0%/*}
OUT=/run/mesocosm-out
export OUT
mkdir -p "$OUT"
sh "$here/work.sh" > "$OUT/install.log" 2>&1
echo $? > "$OUT/status"
tar -C "$OUT" -cf /dev/disk/by-id/virtio-mesocosm-out .
sync
