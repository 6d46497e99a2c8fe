#!/bin/sh
# Turn a freshly unpacked root file system ($1) into a desktop guest. Runs as an mmdebstrap
# customize hook: as root on the build host, restricted to the folder it is given.
set -eu
root=$1
here=${MESOCOSM_RECIPE_DIR:?}

# -- names
echo mesocosm-desktop > "$root/etc/hostname"
printf '127.0.0.1 localhost mesocosm-desktop\n::1 localhost\n' > "$root/etc/hosts"
printf '/dev/vda / ext4 defaults,noatime 0 0\n' > "$root/etc/fstab"
# Each clone generates its own: an empty file is filled at boot and kept in the snapshot.
: > "$root/etc/machine-id"

# -- locale
echo 'en_US.UTF-8 UTF-8' > "$root/etc/locale.gen"
chroot "$root" locale-gen > /dev/null
echo 'LANG=en_US.UTF-8' > "$root/etc/default/locale"
echo 'UTC' > "$root/etc/timezone"

# -- users: the agent's user has no password and cannot become root; root logs in only with a key
chroot "$root" useradd --create-home --uid 1000 --shell /bin/bash --comment 'Agent' user
chroot "$root" usermod --append --groups audio,video,input user 2> /dev/null || true
install -d -m 700 "$root/root/.ssh"
install -m 600 "$MESOCOSM_AUTHORIZED_KEY" "$root/root/.ssh/authorized_keys"
rm -f "$root"/etc/ssh/ssh_host_*
install -m 600 "$MESOCOSM_HOST_KEY" "$root/etc/ssh/ssh_host_ed25519_key"
install -m 644 "$MESOCOSM_HOST_KEY.pub" "$root/etc/ssh/ssh_host_ed25519_key.pub"
install -m 644 "$here/files/sshd.conf" "$root/etc/ssh/sshd_config.d/mesocosm.conf"

# -- network: any network card
install -m 644 "$here/files/guest.network" "$root/etc/systemd/network/20-guest.network"
chroot "$root" systemctl -q enable systemd-networkd.service
chroot "$root" systemctl -q disable systemd-networkd-wait-online.service 2> /dev/null || true
# On Ubuntu this file is a link into /run, which systemd-resolved maintains.
rm -f "$root/etc/resolv.conf"
printf 'nameserver 10.0.2.3\n' > "$root/etc/resolv.conf"

# -- session
install -d "$root/etc/lightdm/lightdm.conf.d"
install -m 644 "$here/files/lightdm.conf" "$root/etc/lightdm/lightdm.conf.d/50-mesocosm.conf"
install -d "$root/etc/systemd/system/lightdm.service.d"
install -m 644 "$here/files/lightdm-wait.conf" "$root/etc/systemd/system/lightdm.service.d/wait.conf"
install -d "$root/etc/libinput"
install -m 644 "$here/files/libinput.quirks" "$root/etc/libinput/local-overrides.quirks"
install -d "$root/etc/dconf/profile" "$root/etc/dconf/db/local.d"
printf 'user-db:user\nsystem-db:local\n' > "$root/etc/dconf/profile/user"
install -m 644 "$here/files/dconf-defaults.ini" "$root/etc/dconf/db/local.d/00-mesocosm"
look="$here/files/dconf-$(. "$root/etc/os-release" && echo "$ID-$VERSION_ID").ini"
[ ! -e "$look" ] || install -m 644 "$look" "$root/etc/dconf/db/local.d/10-look"
chroot "$root" dconf update
install -d "$root/etc/firefox/policies"
install -m 644 "$here/files/firefox-policies.json" "$root/etc/firefox/policies/policies.json"
install -m 644 "$here/files/environment" "$root/etc/environment"
install -m 644 "$here/files/mimeapps.list" "$root/etc/xdg/mimeapps.list"
# No welcome screens: tips, news and first-run pages would intercept the agent's typing.
install -m 644 "$here/files/libreoffice.xcd" "$root/etc/libreoffice/registry/mesocosm.xcd"
printf '(check-updates no)\n' >> "$root/etc/gimp/2.0/gimprc"
for folder in Desktop Documents Downloads Music Pictures Videos; do
    install -d -o 1000 -g 1000 "$root/home/user/$folder"
done
install -d -o 1000 -g 1000 "$root/home/user/.config"
echo yes > "$root/home/user/.config/gnome-initial-setup-done"
chown 1000:1000 "$root/home/user/.config/gnome-initial-setup-done"
chroot "$root" runuser -u user -- env -i HOME=/home/user PATH=/usr/bin:/bin \
    sh -c "$(cat "$here/files/office-profile.sh")"

# -- a process of the user cannot access another process's memory
install -d "$root/etc/sysctl.d"
install -m 644 "$here/files/sysctl.conf" "$root/etc/sysctl.d/60-mesocosm.conf"

# -- nothing runs in the background: no indexers, updaters, timers, crash reporters. The desktop never sleeps
# either: a sleeping desktop does not reply.
# Services that the session's daemons request (upower, colord, accounts) stay: without them the daemons
# restart repeatedly, and the process list never settles.
for unit in apt-daily.timer apt-daily-upgrade.timer man-db.timer e2scrub_all.timer fstrim.timer \
    dpkg-db-backup.timer e2scrub_reap.service systemd-timesyncd.service ModemManager.service \
    wpa_supplicant.service cups.service cups-browsed.service avahi-daemon.service avahi-daemon.socket \
    packagekit.service bluetooth.service udisks2.service fwupd.service geoclue.service switcheroo-control.service \
    NetworkManager.service NetworkManager-wait-online.service power-profiles-daemon.service \
    plymouth-quit-wait.service systemd-random-seed.service systemd-resolved.service \
    motd-news.timer motd-news.service ua-timer.timer esm-cache.service apport.service \
    apport-autoreport.path apport-autoreport.timer apport-forward.socket update-notifier-download.timer \
    update-notifier-motd.timer fwupd-refresh.timer systemd-oomd.service systemd-oomd.socket \
    sleep.target suspend.target hibernate.target hybrid-sleep.target suspend-then-hibernate.target; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# Root logs in only for the probe and needs no systemd session, which would start and end with every login.
ln -sf /dev/null "$root/etc/systemd/system/user@0.service"
install -d "$root/etc/systemd/user"
# Portals serve sandboxed programs, of which this desktop has none; other programs wait for them at
# their start, until they time out under emulation.
for unit in xdg-desktop-portal.service xdg-desktop-portal-gnome.service \
    xdg-desktop-portal-gtk.service xdg-document-portal.service xdg-permission-store.service \
    tracker-miner-fs-3.service tracker-extract-3.service tracker-miner-fs-control-3.service \
    tracker-writeback-3.service tracker-miner-rss-3.service evolution-addressbook-factory.service \
    evolution-calendar-factory.service evolution-source-registry.service \
    gvfs-goa-volume-monitor.service gvfs-gphoto2-volume-monitor.service gvfs-mtp-volume-monitor.service \
    gvfs-afc-volume-monitor.service obex.service pulseaudio.service pulseaudio.socket \
    pipewire.service pipewire.socket pipewire-pulse.service \
    pipewire-pulse.socket filter-chain.service wireplumber.service xdg-user-dirs-update.service; do
    ln -sf /dev/null "$root/etc/systemd/user/$unit"
done
# Daemons for hardware that no machine has (batteries, printers, radios, tablets, cards, sound, colour profiles) and
# for background work. They are a fifth of the session's processes: less to boot, save, load and compare.
for daemon in Color Datetime Housekeeping Power PrintNotifications Rfkill Sharing Smartcard Sound UsbProtection \
    Wacom Wwan; do
    ln -sf /dev/null "$root/etc/systemd/user/org.gnome.SettingsDaemon.$daemon.service"
done
for name in tracker-miner-fs-3 tracker-extract-3 tracker-miner-rss-3 org.gnome.Evolution-alarm-notify \
    org.gnome.Software gnome-software-service update-notifier geoclue-demo-agent \
    gnome-flashback-geoclue-demo-agent print-applet; do
    entry="$root/etc/xdg/autostart/$name.desktop"
    [ ! -e "$entry" ] || printf '[Desktop Entry]\nType=Application\nName=%s\nHidden=true\n' "$name" > "$entry"
done

# -- the graphical session is the default boot target
chroot "$root" systemctl -q set-default graphical.target

# -- installed packages, for the manifest
chroot "$root" dpkg-query -W -f '${Package} ${Version}\n' > "$MESOCOSM_PACKAGES_OUT"
cp "$root"/boot/vmlinuz-* "$MESOCOSM_KERNEL_OUT"
cp "$root"/boot/initrd.img-* "$MESOCOSM_INITRD_OUT"
# A guest without network access cannot use the archives of the build, and their keys were stored here.
rm -f "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*.log "$root"/boot/initrd.img-*
