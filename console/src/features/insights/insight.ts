/** The insights, in the order of how urgent they are; the words are those of the whole product. */
export const insightTabs = [
  {
    id: 'attack-tools',
    title: 'Attack tools',
    definition:
      'Devices whose ids are on the list of attack tools (suspected), or whose behaviour gave them away: a keyboard with a disk or a network card, descriptors that contradict what it claims to be (confirmed).',
  },
  {
    id: 'violations',
    title: 'Whitelist violations',
    definition:
      'Devices that are attached now, on hosts where a whitelist applies, and that no allow rule in force covers. Free hosts count, too: there nothing stops them.',
  },
  {
    id: 'spoofed',
    title: 'Spoofed identities',
    definition:
      'Devices that are hardly what their ids say: compared with the genuine product, or with the fleet, where at least 95 % of 20 or more devices of the same ids share one set of interfaces and this one has another.',
  },
  {
    id: 'vulnerable',
    title: 'Vulnerable',
    definition:
      'Attached devices with a published weakness that fits their firmware, their model or their product family. The severest first.',
  },
  {
    id: 'uncommon',
    title: 'Uncommon',
    definition:
      'Devices, by ids and set of interfaces, that hardly any host has: on at most 3 hosts and at most 1 % of the active hosts, in a fleet of at least 20, where the server is not configured otherwise. The rarest first.',
  },
] as const

export type InsightId = (typeof insightTabs)[number]['id']

export const insightOf = (id: string | undefined) => insightTabs.find((one) => one.id === id) ?? insightTabs[0]

/** A share of the fleet for people: a small one keeps the digits that tell it from none. */
export const shareText = (share: number): string => {
  const percent = share * 100
  if (percent === 0) return '0 %'
  if (percent < 0.01) return '< 0.01 %'
  return `${percent < 1 ? percent.toFixed(2) : percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
}

/** Address of the devices of a model, on the hosts that have it now. */
export const devicesAddress = (
  model: { vid: string; pid: string },
  more: Readonly<Record<string, string>> = {},
): string => `/peripherals?${new URLSearchParams({ vid: model.vid, pid: model.pid, present: 'true', ...more })}`
