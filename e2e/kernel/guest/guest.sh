# Functions for the scripts of the tests; gadgets.ts calls them.
gadgets=/sys/kernel/config/usb_gadget

# mark TEXT: writes a line to the kernel's log, in order with the kernel's own lines.
mark() { echo "portcullis-test: $1" >/dev/kmsg; }

# log_since_plug NAME: prints the kernel log since the last attachment of the gadget.
log_since_plug() {
  dmesg >/tmp/kernel-log
  tail -n +$(($(grep -n "portcullis-test: plug $1\$" /tmp/kernel-log | tail -n 1 | cut -d: -f1) + 1)) /tmp/kernel-log
}

# gadget NAME VID PID BCD MANUFACTURER PRODUCT SERIAL: creates a device without functions. Omits empty string descriptors.
gadget() {
  g=$gadgets/$1
  mkdir -p $g/strings/0x409 $g/configs/c.1/strings/0x409
  echo 0x$2 >$g/idVendor
  echo 0x$3 >$g/idProduct
  echo 0x$4 >$g/bcdDevice
  # Nearly all keyboards can wake the host and have no output endpoint. A gadget without these properties is a finding.
  echo 0xa0 >$g/configs/c.1/bmAttributes
  [ -z "$5" ] || echo "$5" >$g/strings/0x409/manufacturer
  [ -z "$6" ] || echo "$6" >$g/strings/0x409/product
  [ -z "$7" ] || echo "$7" >$g/strings/0x409/serialnumber
}

# keyboard_function NAME: adds a boot keyboard with the report descriptor of the HID specification, appendix B.1.
keyboard_function() {
  f=$gadgets/$1/functions/hid.0
  mkdir -p $f
  echo 1 >$f/protocol
  echo 1 >$f/subclass
  echo 8 >$f/report_length
  echo 1 >$f/no_out_endpoint
  printf '\005\001\011\006\241\001\005\007\031\340\051\347\025\000\045\001\165\001\225\010\201\002\225\001\165\010\201\003\225\005\165\001\005\010\031\001\051\005\221\002\225\001\165\003\221\003\225\006\165\010\025\000\045\145\005\007\031\000\051\145\201\000\300' >$f/report_desc
  ln -s $f $gadgets/$1/configs/c.1/
}

# second_configuration NAME: adds another configuration with another mass storage.
second_configuration() {
  f=$gadgets/$1/functions/mass_storage.1
  mkdir -p $f $gadgets/$1/configs/c.2/strings/0x409
  truncate -s 1M /tmp/$1.1.img
  echo /tmp/$1.1.img >$f/lun.0/file
  ln -s $f $gadgets/$1/configs/c.2/
}

# storage_function NAME: adds a mass storage of 1 MiB of zeros.
storage_function() {
  f=$gadgets/$1/functions/mass_storage.0
  mkdir -p $f
  truncate -s 1M /tmp/$1.img
  echo /tmp/$1.img >$f/lun.0/file
  ln -s $f $gadgets/$1/configs/c.1/
}

# plug NAME N: attaches the gadget to controller N (0 to 3) and removes the previous one.
plug() {
  for other in $gadgets/*; do [ "$(cat $other/UDC)" != dummy_udc.$2 ] || echo >$other/UDC; done
  mark "plug $1"
  echo dummy_udc.$2 >$gadgets/$1/UDC
}

# unplug NAME: removes the gadget, which can be attached again.
unplug() { echo >$gadgets/$1/UDC; }

# hidg NAME: prints the device node that types for the gadget.
hidg() { echo /dev/hidg$(cut -d: -f2 $gadgets/$1/functions/hid.0/dev); }

# port N: prints the name in /sys/bus/usb/devices of the only port of controller N.
port() { for bus in /sys/devices/platform/dummy_hcd.$1/usb*; do echo "${bus##*/usb}-1"; done; }

# Records the events of all input devices, including later ones, until stop_recording.
record() {
  rm -rf /tmp/keys
  mkdir /tmp/keys
  (
    while :; do
      for event in /dev/input/event*; do
        [ -e "$event" ] || continue
        to=/tmp/keys/$(readlink -f /sys/class/input/${event##*/} | tr / _)
        [ -e $to ] || { : >$to; cat $event >$to 2>/dev/null & }
      done
      usleep 5000
    done
  ) </dev/null >/dev/null 2>&1 &
  echo $! >/tmp/recorder
}
stop_recording() { kill $(cat /tmp/recorder); }

# keystrokes: prints the number of pressed keys since record. An event has 24 bytes: time (16), type, code, value. A press
# has type 1 and value 1.
keystrokes() { pressed /tmp/keys; }

# pressed FOLDER: prints the number of pressed keys in a folder of recorded input devices.
pressed() {
  for file in $1/*; do
    [ ! -e "$file" ] || hexdump -v -e '8/2 " %d" 2/2 " %d" 1/4 " %d\n"' "$file"
  done | awk '$9 == 1 && $11 == 1 { n++ } END { print n + 0 }'
}

# type_keys NAME COUNT: sends COUNT reports. Each presses another key and releases the last, so COUNT reports are COUNT
# keystrokes. Sends each one even if the previous one was refused. A refusal takes no time, so every tenth refusal waits:
# 1,000 take some seconds. Every eighth accepted report waits until the recorder has all events, because the kernel buffers
# only 64 events. The first report causes 3 events of 24 bytes, the others 5.
# Prints the number of sent and of accepted reports.
type_keys() {
  to=$(hidg $1) recorded=$(recorded $1) tried=0 taken=0
  awk -v n=$2 'BEGIN { for (i = 0; i < n; i++) printf "\\000\\000\\%03o\\000\\000\\000\\000\\000\n", 4 + i % 26 }' >/tmp/reports
  while read -r report; do
    tried=$((tried + 1))
    if printf "$report" >$to; then
      taken=$((taken + 1))
      [ $((taken % 8)) != 0 ] || while [ $(wc -c <$recorded) -lt $((taken * 120 - 48)) ]; do usleep 1000; done
    elif [ $((tried % 10)) = 0 ]; then
      usleep 20000
    fi
  done </tmp/reports 2>/dev/null
  echo "$tried $taken"
}

# recorded NAME: prints the recorder's file for the gadget's keyboard. Its name has the IDs in upper case.
recorded() { echo /tmp/keys/*:$(cut -c 3- $gadgets/$1/idVendor | tr a-f A-F):$(cut -c 3- $gadgets/$1/idProduct | tr a-f A-F).*; }

# start_agent OPTIONS: runs the agent in a separate session, as a service manager does. Its messages to the user go to
# /tmp/told.
start_agent() {
  setsid portcullis-agent --state-dir /root/agent --notify-command "tee -a /tmp/told" "$@" </dev/null >>/tmp/agent.log 2>&1 &
  echo $! >/tmp/agent.pid
}
# signal_agent SIGNAL
signal_agent() { kill -$1 $(cat /tmp/agent.pid); }
agent_runs() { kill -0 $(cat /tmp/agent.pid) 2>/dev/null; }

# authorized_defaults: prints authorized_default of the four controllers, in order.
authorized_defaults() { for n in 0 1 2 3; do cat /sys/devices/platform/dummy_hcd.$n/usb*/authorized_default; done | tr '\n' ' '; }

# set_default N VALUE: sets authorized_default of controller N.
set_default() { for bus in /sys/devices/platform/dummy_hcd.$1/usb*; do echo $2 >$bus/authorized_default; done; }

# authorized N: prints whether the kernel authorised the device at the port of controller N; empty without a device.
authorized() { cat /sys/bus/usb/devices/$(port $1)/authorized 2>/dev/null; true; }

# stopped N: succeeds if the device at the port of controller N, or each of its interfaces, is not authorised.
stopped() {
  device=/sys/bus/usb/devices/$(port $1)
  [ "$(cat $device/authorized)" = 0 ] || ! grep -q 1 $device:*/authorized
}

# input_devices, disks: print the number of those from USB devices.
input_devices() { links_to_usb /sys/class/input/event*; }
disks() { links_to_usb /sys/block/*; }
links_to_usb() { for link; do readlink $link; done | grep -c dummy_hcd; true; }

# usb_disk: prints the name of the disk of a USB device (sda).
usb_disk() { for disk in /sys/block/*; do case $(readlink $disk) in *dummy_hcd*) echo ${disk##*/} ;; esac; done; }

# uptime_ms: prints the uptime with a resolution of 10 ms.
uptime_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

# start_device NAME: starts the device side of all gadgets that use FunctionFS, or of one gadget of gadgetfs.
start_device() {
  [ -e /tmp/$1.in ] || mkfifo /tmp/$1.in /tmp/$1.out
  UV_THREADPOOL_SIZE=32 setsid node --no-warnings /device.mjs /tmp/$1 </dev/null >>/tmp/device.log 2>&1 &
  echo $! >/tmp/$1.pid
}

# device NAME JSON: sends a command to that process and prints its answer.
device() {
  echo "$2" >/tmp/$1.in
  timeout 30 cat /tmp/$1.out
}

# mount_gadgetfs: mounts gadgetfs, which has one device at a time.
mount_gadgetfs() {
  mkdir -p /dev/gadget
  mount -t gadgetfs gadgetfs /dev/gadget
}

# unplug_gadgetfs: removes its device and starts the process of the next one.
unplug_gadgetfs() {
  pid=$(cat /tmp/gadgetfs.pid)
  kill -9 $pid
  while kill -0 $pid; do usleep 10000; done 2>/dev/null
  start_device gadgetfs
}

# use_everything: uses all devices from now on (see use.sh) and records bound drivers.
use_everything() {
  mkdir -p /tmp/used /tmp/typed
  setsid uevent /use.sh </dev/null >/dev/null 2>&1 &
  setsid udevadm monitor --kernel --property --subsystem-match=usb --subsystem-match=hid </dev/null >>/tmp/bindings 2>/dev/null &
  until grep -q KERNEL /tmp/bindings; do usleep 10000; done
}

# forget_use: clears the record.
forget_use() {
  rm -f /tmp/used/* /tmp/typed/*
  : >/tmp/bindings
}

# used: prints the use of devices since then, one "what number" per line.
used() {
  for what in networks frames disks sectors sounds; do
    echo $what $(cat /tmp/used/$what.* 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
  done
  echo keystrokes $(pressed /tmp/typed)
}

# bindings: prints the drivers bound and unbound since then, one "seconds action path driver" per line.
bindings() {
  awk '/^KERNEL/ { sub(/.*\[/, "", $1); sub(/\]/, "", $1); event = $1 " " $2 " " $3; isBinding = $2 ~ /^(bind|unbind|remove)$/; driver = "" }
    /^DRIVER=/ { driver = substr($0, 8) }
    /^$/ { if (isBinding) print event " " driver; isBinding = 0 }' /tmp/bindings
}
