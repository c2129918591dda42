import { compareVersions } from '@portcullis/domain'
import { armOrder, type CommandSpec } from '#features/commands/server/index.ts'
import {
  type AgentCommandBodies,
  type BulkAction,
  hostArchitectures,
  type PackageArchitecture,
  packageArchitectures,
} from '#features/contract.ts'
import type { Target } from './bulk.read.ts'

export type Build = AgentCommandBodies['update']

/** Newest builds by architecture; null: none is published. */
export type Builds = ReadonlyMap<string, Build | null>

type Able = Pick<Target, 'agentless' | 'enforcement' | 'version' | 'architecture' | 'release_key'>

const withoutAgent: Readonly<Partial<Record<BulkAction, string>>> = {
  arm: 'A host without an agent cannot be armed.',
  free: 'A host without an agent is never armed.',
  update: 'No agent runs on this host.',
  collectLogs: 'No agent runs on this host.',
}

/** The reason why a host with an agent cannot be armed. */
const observeOnly =
  'This host is only monitored. Its operating system, its kernel or the permissions of its agent do not allow blocking.'

export const currentAgent = 'The agent is up to date.'
const noReleaseKey =
  'The agent was built without a release key and accepts no updates. Reinstall it with a build that has a release key.'

/** Unknown architectures share one name, so that hosts cannot fill a preview with reasons. */
const architectureName = (architecture: string): string =>
  hostArchitectures.find((one) => one === architecture) ?? 'this architecture'

/** Returns the architectures of these hosts that can have builds. Hosts can report any text. */
export const architecturesOf = (hosts: readonly { architecture: string }[]): PackageArchitecture[] =>
  packageArchitectures.filter((one) => hosts.some(({ architecture }) => architecture === one))

/** Returns true if the agent refuses all updates. */
export const hasNoReleaseKey = ({ release_key }: Pick<Target, 'release_key'>): boolean => release_key === 'none'

/** Returns why an action is impossible for a host; null: it is possible. */
export const impossible = (action: BulkAction, target: Able, builds: Builds): string | null => {
  if (target.agentless && withoutAgent[action] !== undefined) return withoutAgent[action]
  if (action === 'arm' && target.enforcement === 'observe') return observeOnly
  if (action !== 'update') return null
  const build = builds.get(target.architecture) ?? null
  if (build === null) return `No agent is published for ${architectureName(target.architecture)}.`
  if (compareVersions(build.version, target.version) <= 0) return currentAgent
  return hasNoReleaseKey(target) ? noReleaseKey : null
}

/** Returns whether a host is already in the state that the action would cause. */
export const isUnchanged = (action: BulkAction, { armed, in_action }: Pick<Target, 'armed' | 'in_action'>): boolean =>
  action === 'arm' ? armed : action === 'free' ? !armed && !in_action : action === 'cancelCommands' ? !in_action : false

export const actionTitles: Readonly<Record<BulkAction, string>> = {
  arm: 'Arm',
  free: 'Free',
  approveAll: 'Approve attached devices',
  delete: 'Delete',
  cancelCommands: 'Cancel commands',
  update: 'Update agent',
  collectLogs: 'Collect logs',
  tag: 'Add tags to',
  untag: 'Remove tags from',
}

/** Returns the command that carries out an action on a host; null: the action needs none. */
export const commandFor = (
  action: BulkAction,
  target: Pick<Target, 'agent_id' | 'architecture'>,
  {
    applyToPresent,
    revertMinutes = 0,
    builds,
    jobId,
  }: { applyToPresent: boolean; revertMinutes?: number | undefined; builds: Builds; jobId?: string },
): CommandSpec | null => {
  const common = { agentId: target.agent_id, title: actionTitles[action], ...(jobId === undefined ? {} : { jobId }) }
  if (action === 'arm') return { ...common, ...armOrder(applyToPresent, revertMinutes) }
  if (action === 'free') return { ...common, kind: 'configure', body: { mode: 'Free', applyToPresent: false } }
  if (action === 'collectLogs') return { ...common, kind: 'collect-logs', body: {} }
  const build = action === 'update' ? builds.get(target.architecture) : null
  return build == null ? null : { ...common, kind: 'update', body: build }
}
