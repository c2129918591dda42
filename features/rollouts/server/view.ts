import {
  type PackageArchitecture,
  type Rollout,
  type RolloutHost,
  type RolloutHostState,
  type RolloutPlan,
  type RolloutState,
  rolloutHostStates,
} from '#features/contract.ts'
import type { RingCounts, RolloutsRead } from './rollouts.read.ts'
import type { RingMark, RolloutRow } from './rollouts.store.ts'

type Ring = Rollout['rings'][number]
type Build = Rollout['builds'][number]

const buildsOf = (row: RolloutRow): Build[] =>
  Object.values(row.builds)
    .map(({ architecture, version }) => ({
      architecture: architecture as PackageArchitecture,
      version,
    }))
    .sort((a, b) => (a.architecture < b.architecture ? 1 : -1))

const isoOf = (time: number | null | undefined): string | null => (time == null ? null : new Date(time).toISOString())

const ringState = (row: RolloutRow, ring: number, mark: RingMark | undefined): Ring['state'] => {
  if (mark === undefined) return 'waiting'
  if (ring < row.ring || row.state === 'completed') return 'done'
  return mark.dwellUntil === null ? 'running' : 'dwelling'
}

const hostsByState = (counts: readonly RingCounts[]): Ring['hosts'] =>
  Object.fromEntries(
    rolloutHostStates.map((state) => [state, counts.find((row) => row.state === state)?.hosts ?? 0]),
  ) as Record<RolloutHostState, number>

const sum = (rows: readonly RingCounts[], member: 'predicted' | 'actual' | 'over'): number =>
  rows.reduce((total, row) => total + row[member], 0)

/** Returns a rollout as the interface shows it; `counts` may include other rollouts. */
export const rolloutView = (row: RolloutRow, counts: readonly RingCounts[]): Rollout => {
  const own = counts.filter((count) => count.rollout_id === row.rollout_id)
  const { settings } = row
  return {
    id: row.rollout_id,
    kind: row.kind,
    name: row.name,
    state: row.state as RolloutState,
    reason: row.reason,
    builds: buildsOf(row),
    dwellMinutes: settings.dwellMinutes,
    failurePercent: settings.failurePercent,
    blocksOverPercent: settings.blocksOverPercent,
    catchUpHours: settings.catchUpHours,
    applyToPresent: settings.applyToPresent,
    revertMinutes: settings.revertMinutes ?? null,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    endedAt: row.ended_at?.toISOString() ?? null,
    rings: settings.rings.map((ring, i) => {
      const mark = row.rings[i]
      const hosts = own.filter((count) => count.ring === i)
      return {
        name: ring.name,
        tags: ring.tags ?? [],
        sharePercent: ring.sharePercent ?? null,
        state: ringState(row, i, mark),
        startedAt: isoOf(mark?.startedAt),
        dwellUntil: isoOf(mark?.dwellUntil),
        hosts: hostsByState(hosts),
        predictedBlocks: sum(hosts, 'predicted'),
        actualBlocks: sum(hosts, 'actual'),
        overPrediction: sum(hosts, 'over'),
      }
    }),
  }
}

export const planView = (
  row: RolloutRow,
  rows: Awaited<ReturnType<RolloutsRead['plan']>>,
  mismatches: Awaited<ReturnType<RolloutsRead['mismatches']>>,
  candidates: number,
  hosts: RolloutHost[],
): Omit<RolloutPlan, 'prediction'> => ({
  kind: row.kind,
  builds: buildsOf(row),
  rings: row.settings.rings.map(({ name }, i) => {
    const own = rows.filter((r) => r.ring === i)
    const count = (state: RolloutHostState): number =>
      own.filter((r) => r.state === state).reduce((total, r) => total + r.hosts, 0)
    return {
      name,
      hosts: own.reduce((total, r) => total + r.hosts, 0),
      ready: count('waiting'),
      offline: count('offline'),
      notReady: count('notReady'),
      unchanged: count('unchanged'),
      predictedBlocks: own
        .filter((r) => r.state === 'waiting' || r.state === 'offline')
        .reduce((total, r) => total + r.predicted, 0),
      mismatched: {
        hosts: mismatches.find(({ ring }) => ring === i)?.hosts ?? 0,
        devices: mismatches.find(({ ring }) => ring === i)?.devices ?? 0,
      },
      reasons: own.filter((r) => r.state === 'notReady').map(({ reason, hosts: n }) => ({ reason, hosts: n })),
    }
  }),
  outside: candidates - rows.reduce((total, r) => total + r.hosts, 0),
  hosts,
})
