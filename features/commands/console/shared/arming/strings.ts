import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  gradeBeforeDriver: 'Enforces before drivers load',
  gradeBeforeDriverHint:
    'When armed, this host blocks a new device before any driver loads, so not one keystroke gets through.',
  gradeAfterAttach: 'Enforces after attach',
  gradeAfterAttachHint:
    'When armed, this host blocks a device right after it is attached. The device may act for a moment.',
  gradeBeforeInstall: 'Enforces before driver installation',
  gradeBeforeInstallHint:
    'When armed, this host installs no driver for a new device until the device is allowed. This also applies while the agent is stopped and after a restart. Not covered: devices that were installed before arming and could not be removed, copies of allowed devices, changes by administrators, and the time before Windows starts.',
  gradeObserve: 'Monitoring only',
  gradeObserveHint:
    'This host cannot block devices: its agent lacks permission, or the USB authorisation files of its kernel are read-only. You cannot arm it.',
  gradeWindowsHint: 'This host is only monitored. You cannot arm it.',
  gradeMacosHint: 'This host is only monitored: the agent for macOS cannot block devices. You cannot arm it.',
  gradeUnknown: 'Enforcement of this host: {grade}',
  grades: 'Enforcement after arming',
  revert: 'If a newly armed host cannot reach the server, return to Free after',
  revertNever: 'Never: it stays armed',
  revertAfter: '{minutes, select, 60 {1 hour} 1440 {24 hours} other {{minutes} minutes}}',
  revertAutomatic: 'Automatic: {minutes} minutes during a pilot (up to {hosts} armed hosts), otherwise never',
  revertAutomaticNow: 'Automatic: {choice}',
  revertOnHint:
    'A host that arming disconnects becomes usable again without a visit. Until its first check-in after arming, an attacker who cuts the network also frees it.',
  revertOffHint:
    'An attacker who cuts the network cannot free a host. If arming disconnects a host, for example by blocking its network adapter, only root on the host can free it.',
  gradeOf: '{grade} ({agents, plural, one {# host} other {# hosts}}).',
})
