import { strings } from './strings.ts'
/** The insights, in the order of how urgent they are; the words are those of the whole product. */
export const insightTabs = [
  {
    id: 'attack-tools',
    title: strings.attackTools,
    definition: strings.devicesWhoseIdsAreOnThe,
  },
  {
    id: 'violations',
    title: strings.whitelistViolations,
    definition: strings.devicesThatAreAttachedNowOn,
  },
  {
    id: 'spoofed',
    title: strings.spoofedIdentities,
    definition: strings.devicesThatAreHardlyWhatTheir,
  },
  {
    id: 'vulnerable',
    title: strings.vulnerable,
    definition: strings.attachedDevicesWithAPublishedWeakness,
  },
  {
    id: 'uncommon',
    title: strings.uncommon,
    definition: strings.devicesByIdsAndSetOf,
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
