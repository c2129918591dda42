import { language } from '@portcullis/platform/console/lib/locale.ts'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { Rollout, RolloutHostState, RolloutInput, RolloutKind, RolloutState } from '#features/contract.ts'
import { strings } from './strings.ts'

export const kindLabels: Readonly<Record<RolloutKind, string>> = { arm: strings.armHosts, update: strings.updateAgents }

/** Labels of rollout states, with their severity. */
export const stateLabels: Readonly<Record<RolloutState, { word: string; severity: Severity | null }>> = {
  running: { word: strings.running, severity: null },
  paused: { word: strings.statePaused, severity: 'neutral' },
  halted: { word: strings.stateHalted, severity: 'red' },
  completed: { word: strings.completed, severity: null },
  reverted: { word: strings.stateReverted, severity: 'amber' },
  cancelled: { word: strings.cancelled, severity: 'neutral' },
}

/** Labels of host states, in display order: finished states first. */
export const hostLabels: Readonly<Record<RolloutHostState, { word: string; tone: 'good' | 'bad' | 'busy' | 'quiet' }>> =
  {
    done: { word: strings.done, tone: 'good' },
    unchanged: { word: strings.noChangeNeeded, tone: 'good' },
    failed: { word: strings.failed, tone: 'bad' },
    commanded: { word: strings.inProgress, tone: 'busy' },
    reverting: { word: strings.hostReverting, tone: 'busy' },
    reverted: { word: strings.stateReverted, tone: 'quiet' },
    waiting: { word: strings.waiting, tone: 'quiet' },
    offline: { word: strings.disconnected, tone: 'quiet' },
    notReady: { word: strings.unsupported, tone: 'quiet' },
    skipped: { word: strings.hostSkipped, tone: 'quiet' },
  }
export const hostStateOrder = Object.keys(hostLabels) as RolloutHostState[]

/** Returns the actions that the state of a rollout allows. */
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

/** Returns the number of hosts of a ring; 0 before it starts. */
export const ringHosts = (ring: Pick<Ring, 'hosts'>): number =>
  hostStateOrder.reduce((sum, state) => sum + ring.hosts[state], 0)

/** Returns the parts of a ring's bar in order, without empty parts. */
export const ringParts = (ring: Pick<Ring, 'hosts'>) =>
  hostStateOrder.flatMap((state) => (ring.hosts[state] === 0 ? [] : [{ state, hosts: ring.hosts[state] }]))

/** Says which hosts a ring takes. */
export const ringText = ({
  tags,
  sharePercent,
}: {
  tags?: readonly string[]
  sharePercent?: number | null
}): string => {
  if (tags !== undefined && tags.length > 0)
    return strings.hostsWithTags({
      tags: new Intl.ListFormat(language, { type: 'disjunction' }).format(tags.map((tag) => `#${tag}`)),
    })
  return sharePercent === 100 || sharePercent === undefined || sharePercent === null
    ? strings.byRest
    : strings.restShare({ share: sharePercent })
}

/** A ring in the editor. */
export interface RingDraft {
  /** Identity in the editor. */
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
  /** Undefined: the server decides. */
  revertMinutes: number | undefined
}

/** Returns the default rings: a tenth, half of the rest, all others. */
export const firstDraft = (kind: RolloutKind): RolloutDraft => ({
  kind,
  name: '',
  rings: [
    { key: 1, name: strings.firstRing, by: 'share', tags: [], share: 10 },
    { key: 2, name: strings.secondRing, by: 'share', tags: [], share: 50 },
    { key: 3, name: strings.byRest, by: 'rest', tags: [], share: 100 },
  ],
  dwellMinutes: 60,
  failurePercent: 5,
  blocksOverPercent: 5,
  applyToPresent: false,
  revertMinutes: undefined,
})

/** Returns the first fault of the draft, or null if it is complete. */
export const draftFault = ({ rings }: Pick<RolloutDraft, 'rings'>): string | null => {
  if (rings.length === 0) return strings.faultNoRings
  for (const [index, { name, by, tags }] of rings.entries()) {
    if (name.trim() === '') return strings.faultName({ number: index + 1 })
    if (by === 'tags' && tags.length === 0) return strings.faultTags({ number: index + 1 })
    if (by === 'rest' && index < rings.length - 1) return strings.faultRest({ number: index + 1 })
  }
  return null
}

/** Returns the draft as a request body. A missing name gets a default, so that the plan works without it. */
export const inputOf = ({ rings, name, kind, revertMinutes, ...rest }: RolloutDraft): RolloutInput => ({
  ...rest,
  ...(revertMinutes === undefined ? {} : { revertMinutes }),
  kind,
  name: name.trim() === '' ? kindLabels[kind] : name.trim(),
  rings: rings.map(({ name: ring, by, tags, share }) => ({
    name: ring.trim(),
    ...(by === 'tags' ? { tags: [...tags] } : { sharePercent: by === 'rest' ? 100 : share }),
  })),
})
