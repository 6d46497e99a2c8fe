#!/bin/sh
# Runs as the last step of cloud-init: runs work.sh and sends the content of $OUT to the host, as a
# tar on the answer disk. The host reads the outcome from "status".
here=${0%/*}
OUT=/run/mesocosm-out
export OUT
mkdir -p "$OUT"
sh "$here/work.sh" > "$OUT/install.log" 2>&1
echo $? > "$OUT/status"
tar -C "$OUT" -cf /dev/disk/by-id/virtio-mesocosm-out .
sync
