import type { Rollout, RolloutHostState, RolloutInput, RolloutKind, RolloutState } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

export const kindWords: Readonly<Record<RolloutKind, string>> = { arm: strings.armHosts, update: strings.updateAgents }

/** A state of a rollout in a word, with how serious it is. */
export const stateWords: Readonly<Record<RolloutState, { word: string; severity: Severity | null }>> = {
  running: { word: 'running', severity: null },
  paused: { word: 'paused', severity: 'neutral' },
  halted: { word: 'halted', severity: 'red' },
  completed: { word: 'completed', severity: null },
  reverted: { word: 'reverted', severity: 'amber' },
  cancelled: { word: 'cancelled', severity: 'neutral' },
}

/** States of hosts in words, in the order they are drawn: what is over first. */
export const hostWords: Readonly<Record<RolloutHostState, { word: string; tone: 'good' | 'bad' | 'busy' | 'quiet' }>> =
  {
    done: { word: 'done', tone: 'good' },
    unchanged: { word: strings.wasSoAlready, tone: 'good' },
    failed: { word: 'failed', tone: 'bad' },
    commanded: { word: strings.atWork, tone: 'busy' },
    reverting: { word: strings.goingBack2, tone: 'busy' },
    reverted: { word: strings.goneBack, tone: 'quiet' },
    waiting: { word: 'waiting', tone: 'quiet' },
    offline: { word: strings.notConnected2, tone: 'quiet' },
    notReady: { word: strings.cannotGetIt, tone: 'quiet' },
    skipped: { word: strings.leftOut, tone: 'quiet' },
  }
export const hostStateOrder = Object.keys(hostWords) as RolloutHostState[]

/** Which of the buttons a rollout has now. */
export const controlsOf = ({ kind, state }: Pick<Rollout, 'kind' | 'state'>) => {
  const isOpen = state === 'running' || state === 'paused' || state === 'halted'
  return {
    pause: state === 'running',
    resume: state === 'paused' || state === 'halted',
    halt: state === 'running' || state === 'paused',
    revert: kind === 'arm' && isOpen,
    cancel: isOpen,
  }
}

type Ring = Rollout['rings'][number]

/** Hosts of a ring; 0 before it has started. */
export const ringHosts = (ring: Pick<Ring, 'hosts'>): number =>
  hostStateOrder.reduce((sum, state) => sum + ring.hosts[state], 0)

/** Stretches of a ring's bar, in their order, without empty ones. */
export const ringParts = (ring: Pick<Ring, 'hosts'>) =>
  hostStateOrder.flatMap((state) => (ring.hosts[state] === 0 ? [] : [{ state, hosts: ring.hosts[state] }]))

/** Which hosts a ring takes, in words. */
export const ringText = ({
  tags,
  sharePercent,
}: {
  tags?: readonly string[]
  sharePercent?: number | null
}): string => {
  if (tags !== undefined && tags.length > 0)
    return strings.hostsWithTags({ tags: tags.map((tag) => `#${tag}`).join(' or ') })
  return sharePercent === 100 || sharePercent === undefined || sharePercent === null
    ? 'all others'
    : strings.sharepercentOfTheHostsNoRing({ sharePercent })
}

/** A ring as it is being written. */
export interface RingDraft {
  /** Identity while it is edited. */
  key: number
  name: string
  by: 'tags' | 'share' | 'rest'
  tags: readonly string[]
  share: number
}

export interface RolloutDraft {
  kind: RolloutKind
  name: string
  rings: readonly RingDraft[]
  dwellMinutes: number
  failurePercent: number
  blocksOverPercent: number
  applyToPresent: boolean
}

/** A first proposal: a tenth, half of what is left, the rest. */
export const firstDraft = (kind: RolloutKind): RolloutDraft => ({
  kind,
  name: '',
  rings: [
    { key: 1, name: strings.theFirstTenth, by: 'share', tags: [], share: 10 },
    { key: 2, name: strings.halfOfTheOthers, by: 'share', tags: [], share: 50 },
    { key: 3, name: strings.allOthers2, by: 'rest', tags: [], share: 100 },
  ],
  dwellMinutes: 60,
  failurePercent: 5,
  blocksOverPercent: 5,
  applyToPresent: false,
})

/** What still misses before a draft can be sent, in words; null when nothing does. */
export const draftFault = ({ rings }: Pick<RolloutDraft, 'rings'>): string | null => {
  if (rings.length === 0) return strings.aRolloutHasAtLeastOne
  for (const [index, { name, by, tags }] of rings.entries()) {
    if (name.trim() === '') return strings.ringIndexHasNoName({ index: index + 1 })
    if (by === 'tags' && tags.length === 0) return strings.ringIndexNamesNoTag({ index: index + 1 })
    if (by === 'rest' && index < rings.length - 1) return strings.afterRingIndexTakesAllOthers({ index: index + 1 })
  }
  return null
}

/** A draft as it is sent. Its name may come later than its plan. */
export const inputOf = ({ rings, name, kind, ...rest }: RolloutDraft): RolloutInput => ({
  ...rest,
  kind,
  name: name.trim() === '' ? kindWords[kind] : name.trim(),
  rings: rings.map(({ name: ring, by, tags, share }) => ({
    name: ring.trim(),
    ...(by === 'tags' ? { tags: [...tags] } : { sharePercent: by === 'rest' ? 100 : share }),
  })),
})
