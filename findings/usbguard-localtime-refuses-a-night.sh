#!/usr/bin/env bash
# USBGuard 1.1.2 refuses a rule for a night shift. The manual allows `localtime(HH:MM-HH:MM)` without an order of the two
# times. A range that ends after midnight is an error, whose message names no reason, and a range without a length
# (08:00-08:00) is accepted. A night needs two rules.
#
# Seen with usbguard 1.1.2+ds-3+b1 (Debian 12): see the texts below.
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"
apt-get download -q {usbguard,libusbguard1}=1.1.2+ds-3+b1 libprotobuf32 libqb100 libpolkit-gobject-1-0 libumockdev0 libpcap0.8 libdbus-1-3 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu
for range in 22:00-23:59 00:00-06:00 08:00-08:00 22:00-06:00; do
  root/usr/bin/usbguard-rule-parser "allow id 1d6b:0002 if localtime($range)" 2>&1 | tail -n 1 || true
done | tee seen
[ "$(cat seen)" = 'OUTPUT: allow id 1d6b:0002 if localtime(22:00-23:59)
OUTPUT: allow id 1d6b:0002 if localtime(00:00-06:00)
OUTPUT: allow id 1d6b:0002 if localtime(08:00-08:00)
!!  ^-- <argv>:1:23: usbguard::Exception' ]
