import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  share: 'Share',
  serialNumber: 'serial number {serial}',
  showMore: 'Show more ({count, number} in total)',
  onHosts: 'On {hosts}. <link>Show all devices</link>',
  reload: 'Reload',
  computing: 'Computing…',
  live: 'live',
  computedAt: 'computed {time}',
  tooFewHosts:
    'Uncommon devices cannot be identified with {count, plural, one {# active host} other {# active hosts}}. Results appear when the fleet grows.',
  noFindingsForVendor: 'No findings for vendor {vendor}.',
  aboutAttackTools:
    'Suspected: the device has the VID:PID or the structure of an attack tool, but an ordinary device can have them, too. Confirmed: the behaviour identifies the device, such as a hub that types, or descriptors that contradict its claims.',
  aboutViolations:
    'Attached devices that are not on the allowlist, on hosts with rules. Free hosts are included, although they do not block these devices.',
  spoofed: 'Spoofed identities',
  aboutSpoofed:
    'Devices that do not match their VID:PID, compared with the genuine product or with the fleet. In the fleet, at least 95 % of 20 or more devices with the same VID:PID share one set of interfaces, and this device has another.',
  aboutVulnerable:
    'Attached devices with a published vulnerability for their firmware, model or product family. Most severe first.',
  uncommon: 'Uncommon',
  aboutUncommon:
    'Devices with a VID:PID and set of interfaces that few hosts have. The default is at most 3 hosts and 1 % of active hosts, in a fleet of at least 20. Rarest first.',
  confirmedHint: 'Identified by behaviour; see each device for evidence.',
  suspectedHint: 'An ordinary device can have these properties, too.',
  showDevices: 'Show devices with evidence',
  interfaces: 'Interfaces (class:subclass:protocol): {interfaces}',
  onArmedHost: 'on an armed host',
  onFreeHosts: 'on free hosts only',
  serialNumberIs: 'Serial number {serial}.',
  armedHint: 'Armed hosts block it, unless it was attached when the host was armed.',
  freeHint: 'Its hosts are free, so it is not blocked.',
  notAllowedHint: 'No rule allows it.',
  thisDevice: 'This device',
  genuine: 'Genuine product',
  others: 'Others in the fleet',
  differs: 'differs',
  spoofedTag: '{level, select, confirmed {Confirmed spoofed identity} other {Suspected spoofed identity}}',
  consensus: '{share} % of {devices, number} attached devices with this VID:PID have the common set of interfaces.',
  onHostsAndMore:
    'On {hosts} and {more, plural, one {# more host} other {# more hosts}}. <link>Show all devices</link>',
  modelCount: '{count, plural, one {# device model} other {# device models}}',
  modelCountOnHosts:
    '{count, plural, one {# device model} other {# device models}} on {hosts, plural, one {# active host} other {# active hosts}}',
  moreAdvisories: '{advisory} and {count, number} more',
  noSerialNumber: 'No serial number.',
  hostsWithThisModel: 'Show hosts with this model',
  decideLink: 'Show devices to approve or deny',
})
