/**
 * Returns the udev rule that holds back a new USB device until the agent has decided about it. Programs use a device when
 * udev announces it, and most do not try again if the kernel refuses it. Without an agent that enforces a policy, udev only
 * looks for a file.
 *
 * @param waiter path of the script
 */
export const udevRule = (waiter: string): string =>
  `# Programs learn of a new USB device only after the Portcullis agent has decided about it.
ACTION=="add", SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", KERNEL!="usb*", TEST=="/run/portcullis-agent/decided", PROGRAM=="${waiter} %S%p"
`

/** Shell function that makes udev read its rules again, on hosts that have udev. */
export const reloadUdev = `reload_udev() {
  if command -v udevadm >/dev/null 2>&1; then udevadm control --reload >/dev/null 2>&1 || true; fi
}
`
/**
 * The script that waits, for POSIX sh. The file of the agent has its process with its start time, and a line with port and
 * device number for each decision. Only root can write it. It is data: the script runs nothing from it.
 */
export const udevWaiter = `#!/bin/sh
# udev runs this for a new USB device before all other rules. It ends when the Portcullis agent has decided about the device,
# at once if no agent runs that enforces a policy, and after 3 s in any case.
exec 2>/dev/null
device=$1
decided=/run/portcullis-agent/decided

uptime() {
  read -r now _ </proc/uptime
  now=\${now%.*}\${now#*.}
}

# Succeeds if the process that wrote the file still runs. A process ID can be reused, but not with the same start time.
runs() {
  read -r stat <"/proc/$1/stat" || return 1
  started=$2
  set -- \${stat##*) }
  [ "$1" != Z ] && [ -n "$started" ] && [ "\${20}" = "$started" ]
}

is_undecided() {
  read -r number <"$device/devnum" && [ -r $decided ] || return 1
  alive=
  while read -r name value start; do
    case $name in
      agent) runs "$value" "$start" && alive=1 ;;
      "\${device##*/}") [ "$value" != "$number" ] || return 1 ;;
    esac
  done <$decided || return 1
  [ -n "$alive" ]
}

uptime
limit=$((now + 300))
while is_undecided && uptime && [ "$now" -lt "$limit" ]; do sleep 0.02 || sleep 1; done
exit 0
`
