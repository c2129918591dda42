#!/usr/bin/env bash
# udev reports one serial number for sticks with different ones. Its builtin `usb_id` replaces every character outside a
# short list by "_" and joins spaces, so "AB/12", "AB?12" and "AB 12" all become ID_SERIAL_SHORT=AB_12, which also is the
# name below /dev/disk/by-id. An inventory from udev properties counts one device. The names of vendor and model have an
# encoded form without loss (ID_VENDOR_ENC, ID_MODEL_ENC); the serial number has none. Only the attribute `serial` in
# sysfs tells the devices apart.
#
# Seen with udev 252 (Debian 12) on devices of umockdev 0.17.16-1: see the texts below.
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"
apt-get download -q umockdev=0.17.16-1 libumockdev0=0.17.16-1 'udev=252*' 'libudev1=252*' libpcap0.8 libdbus-1-3 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/lib/x86_64-linux-gnu
path=/devices/pci0000:00/0000:00:14.0/usb1/1-2
for serial in 'AB/12' 'AB?12' 'AB 12' 'AB_12'; do
  cat >stick.umockdev <<DEVICE
P: $path
N: bus/usb/001/002
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: BUSNUM=001
E: DEVNUM=002
E: MAJOR=189
E: MINOR=1
A: idVendor=0781
A: idProduct=5583
A: manufacturer=SanDisk
A: product=Ultra Fit
A: serial=$serial

DEVICE
  printf '%s: ' "$serial"
  root/usr/bin/umockdev-run -d stick.umockdev -- root/bin/udevadm test-builtin usb_id "/sys$path" 2>/dev/null |
    grep -E '^ID_(SERIAL|SERIAL_SHORT|MODEL_ENC)=' | sort | paste -sd ' '
done | tee seen
same='ID_MODEL_ENC=Ultra\x20Fit ID_SERIAL=SanDisk_Ultra_Fit_AB_12 ID_SERIAL_SHORT=AB_12'
[ "$(cat seen)" = "AB/12: $same
AB?12: $same
AB 12: $same
AB_12: $same" ]
