#!/bin/busybox sh
# Runs for every kernel event and uses new USB devices as a desktop does: brings up networks, reads disks and listens to
# keyboards. Each result is a separate file, so that it stays when the device is removed.
case $ACTION:$DEVPATH in add:*/usb[0-9]*/*) ;; *) exit ;; esac
to=/tmp/used
case $SUBSYSTEM in
  net)
    echo 1 >$to/networks.$SEQNUM
    ip link set $INTERFACE up
    while read -r frames </sys/class/net/$INTERFACE/statistics/rx_packets; do
      echo $frames >$to/frames.$SEQNUM
      usleep 20000
    done 2>/dev/null &
    ;;
  block)
    [ $DEVTYPE = disk ] || exit
    echo 1 >$to/disks.$SEQNUM
    echo $(($(dd if=/dev/$DEVNAME bs=512 count=64 2>/dev/null | wc -c) / 512)) >$to/sectors.$SEQNUM &
    ;;
  sound) case $DEVNAME in snd/controlC*) echo 1 >$to/sounds.$SEQNUM ;; esac ;;
  input) case $DEVNAME in input/event*) cat /dev/$DEVNAME >/tmp/typed/$SEQNUM 2>/dev/null & ;; esac ;;
esac
