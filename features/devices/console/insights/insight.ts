import { strings } from './strings.ts'
/** The insights, most urgent first. */
export const insightTabs = [
  {
    id: 'attack-tools',
    title: strings.attackTools,
    definition: strings.aboutAttackTools,
  },
  {
    id: 'violations',
    title: strings.notAllowed,
    definition: strings.aboutViolations,
  },
  {
    id: 'spoofed',
    title: strings.spoofed,
    definition: strings.aboutSpoofed,
  },
  {
    id: 'vulnerable',
    title: strings.vulnerable,
    definition: strings.aboutVulnerable,
  },
  {
    id: 'uncommon',
    title: strings.uncommon,
    definition: strings.aboutUncommon,
  },
] as const

export type InsightId = (typeof insightTabs)[number]['id']

export const insightOf = (id: string | undefined) => insightTabs.find((one) => one.id === id) ?? insightTabs[0]

/** Formats a share as a percentage. Small shares keep enough digits to differ from zero. */
export const shareText = (share: number): string => {
  const percent = share * 100
  if (percent === 0) return '0 %'
  if (percent < 0.01) return '< 0.01 %'
  return `${percent < 1 ? percent.toFixed(2) : percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`
}

/** Returns the address of the attached devices of a model. */
export const devicesAddress = (
  model: { vid: string; pid: string },
  more: Readonly<Record<string, string>> = {},
): string => `/peripherals?${new URLSearchParams({ vid: model.vid, pid: model.pid, present: 'true', ...more })}`
