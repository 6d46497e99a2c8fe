#!/bin/sh
# Configure a small initrd before the kernel is installed. Runs as an mmdebstrap essential hook.
set -eu
root=$1
here=${MESOCOSM_RECIPE_DIR:?}
mkdir -p "$root/etc/initramfs-tools/conf.d"
cp "$here/files/initramfs.conf" "$root/etc/initramfs-tools/conf.d/mesocosm"
cp "$here/files/initramfs-modules" "$root/etc/initramfs-tools/modules"
