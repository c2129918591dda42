import { mustExist, revertText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { hostsText } from '#features/agents/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import { type BulkAction, profiles, type WorksAgain } from '#features/contract.ts'
import { type AttachedDevice, attachedLine, worksAgainLines } from '#features/policy/server/index.ts'
import type { Build, Builds } from './possible.ts'

/** One host of a `configuration` request, resolved. */
export interface ConfigurationItem {
  uuid: string
  mode: 'Armed' | 'Free' | null
  approveAll: boolean
  applyToPresent: boolean
  /** Of an order to arm. Absent in requests of older servers. */
  revertMinutes?: number
}

export interface ConfigurationChange {
  items: readonly ConfigurationItem[]
  /** The only devices that are approved; absent if no item approves devices. */
  devices?: readonly AttachedDevice[]
}

/** An action on named hosts that needs a second approver. */
export interface BulkRelease {
  action: 'free' | 'delete' | 'approveAll' | 'tag' | 'untag'
  uuids: readonly string[]
  /** For `tag` and `untag` only. */
  hashtags?: readonly string[]
  /** For `approveAll` only: the only devices that are approved. */
  devices?: readonly AttachedDevice[]
  /** The requester's reason; absent if none was given. */
  reason?: string
}

/** A published build, as a request for a second approver names it. */
type NamedBuild = Pick<Build, 'architecture' | 'version' | 'sha256'>

/** An update of the agents of named hosts. */
export interface BulkUpdate {
  update: readonly string[]
  /** Exactly these builds are installed; absent in requests of older servers. */
  builds?: readonly NamedBuild[]
}

const namedBuilds = (builds: Builds): NamedBuild[] =>
  [...builds.values()]
    .flatMap((build) => build ?? [])
    .map(({ architecture, version, sha256 }) => ({ architecture, version, sha256 }))
    .sort((a, b) => (a.architecture < b.architecture ? -1 : 1))

const buildsText = (builds: readonly NamedBuild[] | undefined): string =>
  builds === undefined
    ? 'the newest published build'
    : builds.map(({ version, architecture }) => `${version} for ${architecture}`).join(', ')

const verbs: Readonly<Record<Exclude<BulkRelease['action'], 'tag' | 'untag'>, string>> = {
  free: 'Free',
  delete: 'Delete',
  approveAll: 'Approve the devices attached to',
}

const bulkTitle = ({ action, uuids, hashtags = [] }: BulkRelease): string => {
  const tags = `${hashtags.length === 1 ? 'tag' : 'tags'} ${hashtags.join(', ')}`
  if (action === 'tag') return `Add ${tags} to ${hostsText(uuids.length)}`
  if (action === 'untag') return `Remove ${tags} from ${hostsText(uuids.length)}`
  return `${verbs[action]} ${hostsText(uuids.length)}`
}

/** Refuses a request of an earlier release, which does not name the devices that it approves. */
const assertNamesDevices = (approves: boolean, devices: readonly AttachedDevice[] | undefined): void => {
  if (approves && devices === undefined)
    throw new AppError('conflict', {
      detail: 'An earlier release filed this request without its devices. Request the action again.',
    })
}

/** Registers the orders that may need a second approver, as kinds of change requests. */
export const registerGated = (
  changeRequests: ChangeRequestsApi,
  carryOut: {
    configuration(tx: Tx, actor: Actor, change: ConfigurationChange): Promise<void>
    bulk(
      tx: Tx,
      actor: Actor,
      change: { action: BulkAction } & Pick<BulkRelease, 'uuids' | 'hashtags' | 'devices' | 'reason'>,
    ): Promise<unknown>
    /** Returns the names of hosts by id. */
    names(tx: Tx, uuids: readonly string[]): Promise<ReadonlyMap<string, string>>
    /** Counts the blocked devices that work again after the change. */
    worksAgain(tx: Tx, change: BulkRelease): Promise<WorksAgain>
    /** Returns the newest published build for an architecture. */
    latestPackage(architecture: string): Promise<Build | null>
  },
): void => {
  /** Returns one line per host. The line has its id too, because several hosts can have one name. */
  async function linesOf(
    tx: Tx,
    uuids: readonly string[],
    lineOf: (name: string, i: number) => string = (name) => name,
  ): Promise<string[]> {
    const names = await carryOut.names(tx, uuids)
    return uuids.map((uuid, i) => {
      const name = names.get(uuid)
      return lineOf(name === undefined ? uuid : `${name} (${uuid})`, i)
    })
  }
  /** Lists devices, and after them the hosts without any. */
  async function deviceLinesOf(
    tx: Tx,
    uuids: readonly string[],
    devices: readonly AttachedDevice[] = [],
  ): Promise<string[]> {
    const names = await carryOut.names(tx, uuids)
    const listed = new Set(devices.map(({ agentId }) => agentId))
    const others = uuids.filter((uuid) => !listed.has(uuid))
    return [
      ...devices.map((device) => attachedLine(device, names)),
      ...(await linesOf(tx, others, (name) => `${name}: no device`)),
    ]
  }
  /** Hosts that become free come first, then those whose devices are approved. */
  const widest = (items: readonly ConfigurationItem[]): ConfigurationItem[] =>
    items.toSorted((a, b) => rankOf(a) - rankOf(b))
  const rankOf = ({ mode, approveAll }: ConfigurationItem): number => (mode === 'Free' ? 0 : approveAll ? 1 : 2)
  changeRequests.handle<ConfigurationChange>('configuration', {
    action: ({ items }) => (items.some((item) => item.mode === 'Free') ? 'free' : 'rules'),
    title: ({ items }) => {
      const parts = [
        ['Free', items.filter((item) => item.mode === 'Free').length],
        ['arm', items.filter((item) => item.mode === 'Armed').length],
        ['approve the devices attached to', items.filter((item) => item.approveAll).length],
      ] as const
      return parts.flatMap(([verb, n]) => (n === 0 ? [] : [`${verb} ${hostsText(n)}`])).join(', ')
    },
    details: async (tx, { items, devices }) => {
      const sorted = widest(items)
      const lines = await linesOf(
        tx,
        sorted.map((item) => item.uuid),
        (name, i) => {
          const { mode, approveAll, applyToPresent, revertMinutes = 0 } = mustExist(sorted[i], 'the item of a host')
          const orders = [
            ...(mode === null ? [] : [mode === 'Free' ? 'free' : `arm${revertText(revertMinutes)}`]),
            ...(approveAll ? ['approve all'] : []),
            ...(applyToPresent ? ['apply to attached devices'] : []),
          ]
          return `${name}: ${orders.join(', ')}`
        },
      )
      const approving = sorted.filter((item) => item.approveAll).map((item) => item.uuid)
      return [...lines, ...(await deviceLinesOf(tx, approving, devices))]
    },
    hosts: ({ items }) => items.filter((item) => item.mode === 'Free' || item.approveAll).length,
    approver: profiles.manager,
    carryOut: async (tx, actor, change) => {
      assertNamesDevices(
        change.items.some((item) => item.approveAll),
        change.devices,
      )
      await carryOut.configuration(tx, actor, change)
      return undefined
    },
  })
  changeRequests.handle<BulkRelease>('bulk', {
    action: ({ action }) => (action === 'free' || action === 'delete' ? action : 'rules'),
    title: bulkTitle,
    details: async (tx, change) => {
      const { action, uuids, reason, devices } = change
      const first = [
        ...(reason === undefined ? [] : [`Reason: ${reason}`]),
        ...worksAgainLines(await carryOut.worksAgain(tx, change)),
      ]
      return [...first, ...(await (action === 'approveAll' ? deviceLinesOf(tx, uuids, devices) : linesOf(tx, uuids)))]
    },
    hosts: ({ uuids }) => uuids.length,
    approver: profiles.manager,
    carryOut: async (tx, actor, change) => {
      assertNamesDevices(change.action === 'approveAll', change.devices)
      await carryOut.bulk(tx, actor, change)
      return undefined
    },
  })
  changeRequests.handle<BulkUpdate>('bulk-update', {
    action: 'update',
    title: ({ update, builds }) => `Update the agent of ${hostsText(update.length)} to ${buildsText(builds)}`,
    details: async (tx, { update, builds = [] }) => [
      ...builds.map(({ version, architecture, sha256 }) => `${version} for ${architecture}: SHA-256 ${sha256}`),
      ...(await linesOf(tx, update)),
    ],
    hosts: ({ update }) => update.length,
    carryOut: async (tx, actor, { update, builds = [] }) => {
      for (const { architecture, sha256, version } of builds)
        if ((await carryOut.latestPackage(architecture))?.sha256 !== sha256)
          throw new AppError('conflict', {
            detail: `${version} for ${architecture} is no longer the newest published build. Request the update again.`,
          })
      await carryOut.bulk(tx, actor, { action: 'update', uuids: update })
      return undefined
    },
  })
}

/** Files a request for a second approver, because one person could otherwise install their own build on hosts. */
export const refuseUpdate = async (
  changeRequests: ChangeRequestsApi,
  actor: Actor,
  update: readonly string[],
  builds: Builds,
): Promise<void> => {
  if (update.length === 0) return
  await changeRequests.assertAlone<BulkUpdate>(actor, { kind: 'program' }, () => ({
    kind: 'bulk-update',
    change: { update, builds: namedBuilds(builds) },
    detail: 'Updating agents needs a second approver. Ask another Administrator to approve request {id}.',
  }))
}
