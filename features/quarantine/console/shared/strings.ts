import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  hostGone: 'Host not found. It may have been deleted.',
  alreadyQuarantined: '{system} already quarantines this host.',
  requested: 'Quarantine requested from {system}. The host page shows the progress.',
  effectAnc:
    '{host} will be isolated from the network by the ANC policy {policy}. It may also lose its connection to this server.',
  noAddress:
    'The host reports no active network interface, so there is no address to quarantine. Wait for its next report.',
  noSystem: 'Neither Cisco ISE nor CounterACT is enabled.',
  reasonHelp: 'Appears in the timeline, the audit trail and, if configured, in the system.',
  hours: 'Duration (hours)',
  endless: 'Until released by a person',
  title: 'Quarantine host',
  effectProperty:
    '{host} gets the property {policy}, and your policies isolate it from the network. It may also lose its connection to this server.',
  addresses: 'Addresses: {addresses}',
})
