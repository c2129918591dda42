import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  breaksAllow: 'Breaks the test {test}: expected Allow, new decision Block ({why}).',
  breaksBlock: 'Breaks the test {test}: expected Block, new decision Allow ({why}).',
  bulkScope:
    '{devices} on {hosts, plural, one {# host} other {# hosts}}. Each decision applies only to the host that has the device:',
  moreModels: 'and {count, plural, one {# more model} other {# more models}}',
  attackToolsLeftOut:
    '{count, plural, one {# attack tool is left out} other {# attack tools are left out}}. Approve attack tools one at a time, with an override.',
  unlisted:
    '{count, plural, one {# device of these models is not included, because it exceeds} other {# devices of these models are not included, because they exceed}} the limit for one decision.',
  tooMany: 'Select at most {limit, number} devices, or add a rule for their model.',
  noDevices: 'No devices to decide on.',
  denyDevices: 'Deny devices',
  decideTitle: 'Decide on a device',
  oneHour: '1 hour',
  oneDay: '1 day',
  noEvidence: 'Its VID:PID or its behaviour matches a known attack tool.',
  overrideNeedsAdmin: 'Only an Administrator can allow it. You can deny it.',
  subject: '{name} {ids} on {hosts}',
  decision: 'Decision',
  approve: 'Approve',
  grant: 'Grant temporarily',
  onTheseHosts: 'These {hosts, number} hosts',
  onlySerial: 'Only the device with serial number {serial}',
  whyDevice: 'Why this device is allowed',
  chooseTag: 'Choose a tag.',
  findHost: 'Search by name or address',
  searching: 'Searching…',
  noSuchHost: 'No hosts found',
  tagPlaceholder: 'Choose a tag',
  noSuchTag: 'No tags found',
  devicesWorkAgain:
    '{devices, plural, one {# blocked device} other {# blocked devices}} will work again on {hosts, plural, one {# host} other {# hosts}}.',
  newlyAllows: 'This change newly allows devices on {hosts, plural, one {# host} other {# hosts}}.',
  blockedWorkAgain: 'Blocked devices will work again there.',
  basis:
    '{days, plural, one {Based on the last day} other {Based on the last # days}}: {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}}.',
  basisEmpty:
    '{days, plural, one {Based on the last day} other {Based on the last # days}}: no devices on hosts that can be armed.',
  basisAll:
    'Based on all known devices: {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}} in the last {days, plural, one {day} other {# days}}.',
  basisNone: 'No devices are known yet.',
  armingBlocks:
    'Arming blocks {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}}.',
  armingBlocksNothing: 'Arming blocks no devices.',
  noMatch: 'No change: no known device matches.',
  restSame:
    '{count, plural, one {# other matching device already has} other {# other matching devices already have}} this outcome.',
  sameOutcome:
    'No change: {devices, plural, one {# matching device} other {# matching devices}} on {hosts, plural, one {# host} other {# hosts}} already {devices, plural, one {has} other {have}} this outcome.',
  changesAllowed:
    'Changes {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}}: {allowed, number} will be allowed.',
  changesBlocked:
    'Changes {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}}: {blocked, number} will be blocked.',
  stopsNow: '{count, plural, one {# attached device stops} other {# attached devices stop}} working now.',
  changesBoth:
    'Changes {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}, {attachments, plural, one {# attachment} other {# attachments}}: {allowed, number} will be allowed, {blocked, number} will be blocked.',
  takesEffect: '{count, plural, one {# decision} other {# decisions}}: {parts}.',
  effectNow: '{count, plural, one {# takes} other {# take}} effect now',
  effectArmed:
    '{count, plural, one {# takes effect when its host is armed} other {# take effect when their hosts are armed}}',
  effectNever:
    '{count, plural, one {# has no effect, because its host cannot block} other {# have no effect, because their hosts cannot block}}',
  vidFormat: 'Enter four hex digits, such as 0781.',
  pidFormat: 'Enter four hex digits, such as 5571.',
  pidNeedsVid: 'A product ID also needs a vendor ID.',
  serialNeedsIds: 'A serial number also needs a vendor ID and a product ID.',
  fingerprintFormat: 'Enter 32 hex digits.',
  devicesMissing: 'Choose devices by vendor ID, kind or fingerprint.',
  chooseHost: 'Choose a host.',
  chooseScope: 'Choose the hosts that the rule applies to.',
  endMissing: 'Enter when the grant expires.',
  endInvalid: 'Enter a valid date and time.',
  endPast: 'Enter a time in the future.',
  reasonMissing: 'Enter a reason. It is shown with every decision and to the user of the host.',
  undoTitle: 'Undo policy change',
  undoEffect: 'the rules return to their state before the change.',
  doneOnHosts:
    '{effect, select, allow {Approved} deny {Denied} other {Granted}} on {hosts, plural, one {# host} other {# hosts}}.',
  doneOnTag: '{effect, select, allow {Approved} deny {Denied} other {Granted}} on tag {tag}.',
  bulkDone:
    '{effect, select, deny {Denied} other {Approved}} {devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}.',
  bulkAction: '{effect, select, deny {Deny} other {Approve}} {devices, plural, one {# device} other {# devices}}',
  showAll: '{count, plural, one {Show # device} other {Show all # devices}}',
  showFirst: 'Show the first {shown, number} of {count, number} devices',
  deletedTag: '{tag} (deleted)',
  tagWithHosts: '{tag} ({count, plural, one {# host} other {# hosts}})',
  buttonAll: '{effect, select, allow {Approve} deny {Deny} other {Grant}} on all hosts',
  buttonAnyTag: '{effect, select, allow {Approve} deny {Deny} other {Grant}} on a tag',
  buttonTag: '{effect, select, allow {Approve} deny {Deny} other {Grant}} on tag {tag}',
  buttonHosts:
    '{effect, select, allow {Approve} deny {Deny} other {Grant}} on {hosts, plural, one {this host} other {# hosts}}',
  toolsWorkAgain:
    '{tools, plural, one {# blocked attack tool} other {# blocked attack tools}} will work again on {hosts, plural, one {# host} other {# hosts}}.',
  toolsAndDevicesWorkAgain:
    '{tools, plural, one {# blocked attack tool} other {# blocked attack tools}} and {others, plural, one {# other blocked device} other {# other blocked devices}} will work again on {hosts, plural, one {# host} other {# hosts}}.',
  willBeAllowed: 'Will be allowed',
  stopsWorkingNow: 'Stops working now',
  willBeBlocked: 'Will be blocked',
  blockedOnceArmed: 'Blocked once armed',
  cannotBeBlocked: 'Denied, but its host cannot block',
  optionalGroup: 'Group (optional)',
  groupHint: 'The page Rules shows each group as one row.',
  newGroup: 'This adds a new group.',
  doneOnAll: '{effect, select, allow {Approved} deny {Denied} other {Granted}} on all hosts.',
})
