import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  showChanges: '{changes, plural, one {Show # change} other {Show # changes}}',
  keysHint: '{j}/{k} to move, {enter} to show the devices, {x} to select, {a} to approve, {d} to deny.',
  intro: 'Devices on armed hosts that are not on the allowlist, attached now or seen in the last 7 days.',
  noMatch: 'No devices match these filters',
  emptyTitle: 'No devices await approval',
  empty:
    'A device appears here when it is attached to an armed host and is not on the allowlist. To see which devices arming blocks, run the <link>simulator</link>.',
  list: 'Devices awaiting approval',
  selected: '{count, plural, one {# device selected} other {# devices selected}}',
  selectAll: 'Select all {count, number} models',
  approveForTag: 'Approve for a tag…',
  approveOnAllHosts: 'Approve on all hosts…',
  approveForThisTag: 'Approve for tag {tag}, which all these hosts have…',
  allowedHosts:
    '{hosts, plural, =0 {Allowed on no host} one {Allowed on # host} other {Allowed on {most, select, yes {at least } other {}}# hosts}}',
  firstSeenAgo: 'First seen {time}',
  hostRisk: 'Risk {risk, number}',
  approveKey: 'Key A, when the row is selected',
  denyKey: 'Key D, when the row is selected',
  moreFor: 'More for {model}',
  select: 'Select {label}',
  deviceOnHost: '{model} on {host}',
  noSerialNumber: 'No serial number',
  detached: 'Detached {time}',
  newestOnly:
    'Shows the newest {shown, number} of {count, number} devices. To decide on all of them, choose a tag or all hosts.',
  previous: 'Previous',
  showDevices: 'Show devices',
  tooMany: 'Select at most {limit, number} devices, or add a rule for the model.',
  approveRow: 'Approve the selected row on its host',
  denyRow: 'Deny the selected row',
  devicesOnHosts:
    '{devices, plural, one {# device} other {# devices}} on {hosts, plural, one {# host} other {# hosts}}',
  stillWorks: 'Still works',
  totals:
    '{models, plural, one {# model} other {# models}}; {devices, plural, one {# device attached} other {# devices attached}}',
  filteredTotals:
    '{shown, number} of {models, plural, one {# model} other {# models}}; {devices, plural, one {# device attached} other {# devices attached}}',
})
