#!/usr/bin/env bash
# With interface_authorized_default=0, Linux lets a program authorise the interfaces of a USB device one by one. If cdc_acm is
# bound to the control interface of a modem before the data interface is authorised, the bind fails with ENODEV and the kernel
# logs nothing. Authorising the data interface later changes nothing, and the data interface alone cannot be bound: the modem has
# no ttyACM until somebody binds its control interface again. The order of the numbers, control before data, is the order that fails.
#
# Seen with linux-image-6.1.0-56-amd64 6.1.192-2 (Debian 12), dummy_hcd and the gadget function acm, in QEMU (tcg):
#   control alone: refused, data: refused, ports: 0
#   both authorised, control again: bound, ports: 1
#
# Needs qemu-system-x86_64 and apt. Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
chmod 755 "$dir"
apt-get download -q linux-image-6.1.0-56-amd64=6.1.192-2 busybox-static=1:1.35.0-4+deb12u1+b1 cpio=2.13+dfsg-7.1 >/dev/null 2>&1
for deb in *.deb; do dpkg-deb -x "$deb" all; done
version=6.1.0-56-amd64
modules=all/lib/modules/$version
mkdir -p root/{bin,proc,sys,lib/modules/$version}
cp all/bin/busybox root/bin/
for module in configfs udc-core libcomposite dummy_hcd u_serial usb_f_acm usb-common usbcore cdc-acm; do
  path=$(find "$modules" -name "$module.ko" -o -name "${module//-/_}.ko" | head -1)
  # Those that are missing are part of the kernel.
  if [ -n "$path" ]; then cp "$path" root/; echo "/$(basename "$path")" >>root/order; fi
done
cat >root/init <<'SH'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc p /proc; $b mount -t sysfs s /sys
# Two rounds, because some need others.
for round in 1 2; do for m in $($b cat /order); do $b insmod $m 2>/dev/null; done; done
$b mount -t configfs c /sys/kernel/config
for hub in /sys/bus/usb/devices/usb*; do echo 0 >$hub/interface_authorized_default; done
g=/sys/kernel/config/usb_gadget/g
$b mkdir -p $g/configs/c.1 $g/functions/acm.0
echo 0x1d6b >$g/idVendor; echo 0x0104 >$g/idProduct
$b ln -s $g/functions/acm.0 $g/configs/c.1/
$b ls /sys/class/udc | { read -r udc; echo $udc >$g/UDC; }
until [ -e /sys/bus/usb/devices/1-1:1.1 ]; do $b usleep 100000; done
bind() { if echo $1 >/sys/bus/usb/drivers/cdc_acm/bind 2>/dev/null; then echo -n bound; else echo -n refused; fi; }
ports() { $b ls /sys/class/tty | $b grep -c ttyACM; }
echo 1 >/sys/bus/usb/devices/1-1:1.0/authorized
echo "RESULT control alone: $(bind 1-1:1.0), $(echo 1 >/sys/bus/usb/devices/1-1:1.1/authorized)data: $(bind 1-1:1.1), ports: $(ports)"
echo "RESULT both authorised, control again: $(bind 1-1:1.0), ports: $(ports)"
$b poweroff -f
SH
chmod 755 root/init
(cd root && find . | ../all/bin/cpio -o -H newc --quiet | gzip -1) >initrd
timeout 300 qemu-system-x86_64 -nodefaults -display none -no-reboot -accel tcg -cpu max -m 512 -kernel "all/boot/vmlinuz-$version" \
  -initrd initrd -append 'console=ttyS0 quiet panic=-1' -serial stdio >log </dev/null
sed -n 's/\r$//; s/^.*RESULT //p' log | tee seen
[ "$(cat seen)" = "control alone: refused, data: refused, ports: 0
both authorised, control again: bound, ports: 1" ] || { tail -20 log; exit 1; }
