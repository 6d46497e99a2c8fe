#!/bin/sh
# In the guest: make the desktop of a cloud image on which all packages are installed.
set -eux
here=${0%/*}

# cloud-init waits for this script: without it the packages may be half there.
dpkg --audit
dpkg-query -W gnome-session-flashback > /dev/null

# What a cloud needs and a desktop without a way out does not.
export DEBIAN_FRONTEND=noninteractive
[ ! -e "$here/browser.deb" ] || apt-get -q -y --no-install-recommends install "$here/browser.deb"
for name in snapd unattended-upgrades ubuntu-pro-client update-notifier-common multipath-tools \
    open-iscsi lxd-agent-loader; do
    apt-get -q -y purge "$name" || true
done
rm -f /etc/netplan/*.yaml /etc/systemd/network/*cloud* /etc/resolv.conf

# The newest kernel that knows a graphics card; the host boots it directly.
kernel=$(find /boot -name 'vmlinuz-*' -not -name '*-kvm' -not -name '*-cloud-*' | sort -V | tail -n 1)
version=${kernel#/boot/vmlinuz-}
for file in /boot/vmlinuz-* /boot/initrd.img-*; do
    case $file in *"-$version") ;; *) rm -f "$file" ;; esac
done

MESOCOSM_RECIPE_DIR=$here MESOCOSM_AUTHORIZED_KEY=$here/authorized_key \
    MESOCOSM_HOST_KEY=$here/ssh_host_ed25519_key MESOCOSM_KERNEL_OUT=$OUT/vmlinuz \
    MESOCOSM_INITRD_OUT=$OUT/initrd.img MESOCOSM_PACKAGES_OUT=$OUT/packages.txt \
    sh "$here/customize.sh" /

# The next boot is the desktop's own.
touch /etc/cloud/cloud-init.disabled
fstrim / || true
