/** Shell code for packages of both formats. */

/**
 * Returns functions that stop and start units.
 *
 * @param name name of the package
 * @param units units that run the files of the package
 */
export const unitHelpers = (name: string, units: readonly string[]): string => `has_systemd() {
  [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}
# Stops the units and remembers which of them ran.
pause_units() {
  has_systemd || return 0
  for unit in ${units.join(' ')}; do
    if systemctl is-active --quiet "$unit"; then
      echo "$unit" >>/run/${name}.paused
      systemctl stop "$unit" || true
    fi
  done
}
# Starts the units that pause_units stopped.
resume_units() {
  [ -e /run/${name}.paused ] || return 0
  while read -r unit; do systemctl start "$unit" || true; done </run/${name}.paused
  rm -f /run/${name}.paused
}
stop_units() {
  if has_systemd; then systemctl stop ${units.join(' ')} >/dev/null 2>&1 || true; fi
}
`
