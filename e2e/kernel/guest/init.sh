#!/bin/busybox sh
# First process of the virtual machine: starts USB gadgets and the network, then runs scripts from its virtual port.
/bin/busybox --install -s /bin
export PATH=/bin:/usr/local/bin HOME=/root
mkdir -p /proc /sys /dev /tmp /root /run /var/log
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in $(cat /modules/order); do
  # Four controllers allow four gadgets at once, each on its own bus.
  case $module in dummy_hcd) options=num=4 ;; *) options= ;; esac
  insmod /modules/$module.ko $options || echo "module $module: not loaded"
done
dmesg -c >/dev/null
mount -t configfs configfs /sys/kernel/config
hostname gadgets
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
exec <>/dev/vport0p1 >&0
echo "ready"
# Each line is a script: its number and its text in base64. The answer is the number, the exit code and the output.
while read -r number script; do
  echo "$script" | base64 -d >/tmp/script
  sh -c '. /guest.sh; . /tmp/script' >/tmp/output 2>&1 </dev/null
  code=$?
  echo "$number $code $(base64 </tmp/output | tr -d '\n')"
done
