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
  gradeBeforeInstall: 'Enforces before Windows installs',
  gradeBeforeInstallHint:
    'When armed, a device that Windows has not installed yet gets no driver until it is allowed, also while the agent does not run and after a restart. Not covered: devices that were installed before and could not be removed, copies of allowed devices, administrators, and the time before Windows runs.',
  gradeObserve: 'Monitoring only',
  gradeObserveHint:
    'This host cannot block devices: its agent lacks permission, or the USB authorisation files of its kernel are read-only. You cannot arm it.',
  gradeMacosHint: 'This host is only monitored: the agent for macOS cannot block devices. You cannot arm it.',
  gradeUnknown: 'Enforcement of this host: {grade}',
  grades: 'Enforcement after arming',
  gradeOf: '{grade} ({agents, plural, one {# host} other {# hosts}}).',
})
