#!/bin/busybox sh
# First process of the machine: starts the Debian system on its disk.
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /new
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in $(cat /modules/order); do
  insmod /modules/$module.ko || echo "module $module: not loaded"
done
until [ -b /dev/sda ]; do usleep 10000; done
mount -t ext4 -o noatime,barrier=0 /dev/sda /new
for folder in proc sys dev; do mount --move /$folder /new/$folder; done
exec switch_root /new /sbin/init
