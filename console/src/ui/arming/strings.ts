import { messages } from '../../lib/messages.ts'

export const strings = messages({
  title: 'Devices that arming blocks',
  period: 'Period',
  loading: 'Checking past attachments…',
  attackTool: 'Attack tool',
  more: 'and {count, number} more',
  days: '{count, plural, one {# day} other {# days}}',
  deviceOnHost: '{device} on {host}',
  times: '{count, plural, =0 {Attached before} one {# time} other {# times}}',
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
  gradeWindowsHint: 'This host is only monitored. See the facts of the host for the reason. You cannot arm it.',
  gradeMacosHint: 'This host is only monitored: the agent for macOS cannot block devices. You cannot arm it.',
  gradeUnknown: 'Enforcement of this host: {grade}',
  grades: 'Enforcement after arming',
  gradeOf: '{grade} ({agents, plural, one {# host} other {# hosts}}).',
})
