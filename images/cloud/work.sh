#!/bin/sh
# Runs in the guest: turn a cloud image with all packages installed into the desktop.
set -eux
here=${0%/*}

# cloud-init runs this script even if the packages are missing or may be half installed.
dpkg --audit
dpkg-query -W gnome-session-flashback > /dev/null

# Remove packages that a cloud needs and a desktop without network access does not.
export DEBIAN_FRONTEND=noninteractive
[ ! -e "$here/browser.deb" ] || apt-get -q -y --no-install-recommends install "$here/browser.deb"
for name in snapd unattended-upgrades ubuntu-pro-client update-notifier-common multipath-tools \
    open-iscsi lxd-agent-loader; do
    apt-get -q -y purge "$name" || true
done
rm -f /etc/netplan/*.yaml /etc/systemd/network/*cloud* /etc/resolv.conf

# The newest kernel that has a graphics driver; the host boots it directly.
kernel=$(find /boot -name 'vmlinuz-*' -not -name '*-kvm' -not -name '*-cloud-*' | sort -V | tail -n 1)
version=${kernel#/boot/vmlinuz-}
for file in /boot/vmlinuz-* /boot/initrd.img-*; do
    case $file in *"-$version") ;; *) rm -f "$file" ;; esac
done

MESOCOSM_RECIPE_DIR=$here MESOCOSM_AUTHORIZED_KEY=$here/authorized_key \
    MESOCOSM_HOST_KEY=$here/ssh_host_ed25519_key MESOCOSM_KERNEL_OUT=$OUT/vmlinuz \
    MESOCOSM_INITRD_OUT=$OUT/initrd.img MESOCOSM_PACKAGES_OUT=$OUT/packages.txt \
    sh "$here/customize.sh" /

# The next boot starts the desktop without cloud-init.
touch /etc/cloud/cloud-init.disabled
fstrim / || true
