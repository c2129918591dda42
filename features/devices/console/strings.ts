import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  modelsTitle: 'Device models',
  searchModels: 'Product, vendor, VID:PID',
  models: 'Models',
  emptyTitle: 'No devices yet',
  empty: 'Devices appear here after a host reports for the first time. <link>Add a host</link>',
  sameModel: '{count, plural, one {Only device of this model} other {# devices of this model}}',
  hostsWithThisModel: 'Hosts with this model',
  addFingerprintRule: 'Add rule for this fingerprint',
  addModelRule: 'Add rule for this model',
  notFound: 'Device not found',
  notFoundHint: 'It may have been deleted after its host was removed, or the address is wrong.',
  findings: 'Findings',
  searchFindings: 'Host, device or comment',
  noFindings: 'No findings',
  noFindingsHint: 'A finding appears here when an attack tool or a vulnerable device is attached to a host.',
  byDevice: 'By device',
  byModel: 'By model',
  view: 'View',
})
