import type { Permission, SavedView } from '@portcullis/features/contract.ts'
import { viewAddress } from '@portcullis/features/views/console/shared/view-address.ts'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import type { IconName } from '@portcullis/platform/console/ui/icons.tsx'
import { placeOf, places, settingsPlaces } from './places.ts'
import { paletteWords, strings } from './strings.ts'

/** A page or an action of the palette. */
interface PaletteEntry {
  id: string
  label: string
  /** Other words that find it. */
  words: string
  icon: IconName
  to: string
  permission: Permission
}

/** Actions that open the page on which they run, ready to start. */
const actions: readonly PaletteEntry[] = [
  {
    id: 'arm',
    label: strings.armHosts,
    words: paletteWords.arm,
    icon: 'policy',
    to: '/agents?Status=Free',
    permission: 'fleet:write',
  },
  {
    id: 'free',
    label: strings.freeHosts,
    words: paletteWords.free,
    icon: 'policy',
    to: '/agents?Status=Armed',
    permission: 'fleet:write',
  },
  {
    id: 'approve',
    label: strings.approveDevices,
    words: paletteWords.approve,
    icon: 'inbox',
    to: '/approvals',
    permission: 'fleet:write',
  },
  {
    id: 'rule',
    label: strings.addRule,
    words: paletteWords.rule,
    icon: 'plus',
    to: '/policy?open=new',
    permission: 'fleet:write',
  },
  {
    id: 'attack-tools',
    label: strings.showAttackTools,
    words: paletteWords.attackTools,
    icon: 'insights',
    to: '/peripherals?isKnownAttackTool=true',
    permission: 'fleet:read',
  },
  {
    id: 'yesterday',
    label: strings.showYesterday,
    words: paletteWords.yesterday,
    icon: 'events',
    to: '/events?fromDate=yesterday',
    permission: 'fleet:read',
  },
  {
    id: 'rollout',
    label: strings.planRollout,
    words: paletteWords.rollout,
    icon: 'rollout',
    to: '/rollouts/new',
    permission: 'fleet:write',
  },
]

const wordsOf: Readonly<Record<string, string>> = paletteWords

/** The pages and actions of the palette, actions first. */
export const paletteEntries: readonly PaletteEntry[] = [
  ...actions,
  ...[...places, ...settingsPlaces].map(({ to, title, icon, permission }) => ({
    ...{ id: to, to, icon, permission, label: strings.goTo({ title }) },
    words: wordsOf[to] ?? '',
  })),
]

/** Returns entries for the saved views, without those of unknown pages. */
export const viewEntries = (views: readonly SavedView[]): PaletteEntry[] =>
  views.flatMap(({ id, name, page, search }) => {
    const place = placeOf([...settingsPlaces, ...places], page)
    if (place === undefined) return []
    const label = strings.openView({ name: plainText(name) })
    const to = viewAddress(page, search)
    return [{ id: `view-${id}`, label, words: page.slice(1), icon: 'filter', to, permission: place.permission }]
  })

/** Whether an entry has every word of a query in its label or its other words. */
export const matchesEntry = (query: string, { label, words = '' }: { label: string; words?: string }): boolean => {
  const text = `${label} ${words}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
