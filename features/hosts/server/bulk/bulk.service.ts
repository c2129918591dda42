import { revertMinutesOf, type WindowsRefusal, windowsRefusals } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import { type Actor, permissionSetOf } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { compileList } from '@portcullis/platform/server/list/compile.ts'
import { agentsList, hostsText } from '#features/agents/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import type {
  BodyOf,
  BulkAction,
  Permission,
  previewBulk,
  ResponseOf,
  runBulk,
  WorksAgain,
} from '#features/contract.ts'
import type { JobRun } from '#features/jobs/server/index.ts'
import type { AttachedDevice, Change } from '#features/policy/server/index.ts'
import type { HostsContext } from '../context.ts'
import { createBulkRead, type TargetGroup } from './bulk.read.ts'
import { type BulkRelease, refuseUpdate } from './gated.ts'
import { devicesBlocked, hostsLeftOut } from './named.ts'
import {
  actionTitles,
  architecturesOf,
  type Build,
  type Builds,
  commandFor,
  impossible,
  isUnchanged,
} from './possible.ts'
import { recordJob, recordOrder } from './record.ts'

type Selection = Omit<BodyOf<typeof previewBulk>, 'withNames'>
type Preview = ResponseOf<typeof previewBulk>
type Result = ResponseOf<typeof runBulk>

/** Jobs that sign new modes. The server marks their hosts when it creates the job, so that a newer order wins. */
const modeJobs = 'modes'
const otherJobs = 'commands'
const isMode = (action: BulkAction): boolean => action === 'arm' || action === 'free'
/**
 * Number of hosts per step. Their rows stay locked until its COMMIT: about 50 ms for 500 approvals, about 100 ms for
 * 1,000 commands.
 */
const hostsPerStep = { command: 1_000, other: 500 }
/**
 * Maximum number of concurrent jobs per person: each holds the ids of up to 100,000 hosts, and they run one after the
 * other.
 */
export const jobsPerPerson = 20
interface BulkJob {
  action: BulkAction
  applyToPresent: boolean
  /** Of an order to arm. Absent in jobs of older servers. */
  revertMinutes?: number | undefined
  uuids: string[]
  /** For `tag` and `untag` only. */
  hashtags?: string[]
  /** Reason of the person. */
  reason?: string
  /** The only devices to approve, of an order that a second approver approved. */
  devices?: readonly AttachedDevice[]
  /**
   * Number of hosts that were counted as newly allowing devices when the job was created; absent if a second approver
   * approved it.
   */
  counted?: number
  actor: Pick<Actor, 'userName' | 'accountId' | 'profile' | 'ip'> & {
    /** Permissions of the credential that ordered the job; absent in jobs from before scopes existed. */
    permissions?: readonly Permission[]
  }
}

/** Actions that are complete after the last step. Others wait for confirmations of hosts. */
const endsHere: ReadonlySet<BulkAction> = new Set(['delete', 'cancelCommands', 'approveAll', 'tag', 'untag'])

const opensMore = (): AppError =>
  new AppError('conflict', {
    detail:
      'The rules changed after this job was created, so it would newly allow devices on more hosts. Run the action again.',
  })

/** Returns the numbers of a count, or zeros if it is absent. */
const devicesOf = (counts: { agents: number; peripherals: number } | undefined) => ({
  agents: counts?.agents ?? 0,
  peripherals: counts?.peripherals ?? 0,
})

/** Counts hosts by their enforcement grade, most hosts first. */
const gradesOf = (groups: readonly TargetGroup[]) =>
  [...Map.groupBy(groups, (group) => group.enforcement)]
    .map(([enforcement, some]) => ({ enforcement, agents: some.reduce((n, group) => n + group.agents, 0) }))
    .sort((a, b) => b.agents - a.agents || (a.enforcement < b.enforcement ? -1 : 1))

/** Groups refused Windows hosts by reason. */
const refusalsOf = (refused: ReadonlyMap<string, WindowsRefusal>) =>
  [...Map.groupBy(refused.values(), (code) => code)].map(([code, all]) => ({
    reason: windowsRefusals[code],
    agents: all.length,
    code,
  }))

export type Bulk = ReturnType<typeof createBulk>

/** Runs one action on many hosts: previews it, then carries it out in a job. */
export const createBulk = (context: HostsContext) => {
  const {
    db,
    clock,
    agents,
    tags,
    commands,
    jobs,
    changeRequests,
    audit,
    builds: { latestPackage },
    policy,
    windows,
  } = context
  const read = createBulkRead(db)

  function whereOf({ uuids, filter }: Selection): SqlFragment {
    if ((uuids === undefined) === (filter === undefined)) throw invalid('body', 'must contain either uuids or a filter')
    return uuids === undefined ? compileList(agentsList, filter ?? {}).where : read.named(uuids.filter(isId))
  }

  /** Returns the tags of a selection. Only `tag` and `untag` accept tags, and both require them. */
  function tagsOf({ action, hashtags = [] }: Selection): string[] {
    const takes = action === 'tag' || action === 'untag'
    if (takes !== hashtags.length > 0)
      throw invalid('body.hashtags', takes ? 'must contain a tag' : 'is valid only for the actions tag and untag')
    tags.requireNames('body.hashtags', hashtags)
    return hashtags
  }

  /** Returns the newest builds for the architectures of these hosts; reads them for updates only. */
  async function buildsFor(action: BulkAction, hosts: readonly { architecture: string }[]): Promise<Builds> {
    const builds = new Map<string, Build | null>()
    if (action === 'update')
      for (const architecture of architecturesOf(hosts)) builds.set(architecture, await latestPackage(architecture))
    return builds
  }

  const tagChanges = (action: 'tag' | 'untag', names: readonly string[], agentIds: readonly string[]) => [
    { effect: action === 'tag' ? ('add' as const) : ('remove' as const), names, agentIds },
  ]

  const releases = (action: BulkAction): action is 'free' | 'delete' => action === 'free' || action === 'delete'

  async function needsApprover(actor: Actor, action: BulkAction, hosts: number): Promise<boolean> {
    if (action === 'update') return hosts > 0 && !(await changeRequests.mayAlone(actor, { kind: 'program' }))
    if (action === 'approveAll' || action === 'tag' || action === 'untag')
      return !(await changeRequests.mayAlone(actor, { kind: 'allow', hosts }))
    return releases(action) && !(await changeRequests.mayAlone(actor, { kind: 'release', hosts }))
  }

  /** Returns the change of modes and decisions that an action makes; null: none. */
  function changeOf(
    { action, hashtags = [], applyToPresent = false }: Selection,
    uuids: readonly string[],
  ): Change | null {
    if (action === 'arm') return { mode: 'Armed', applyToPresent }
    if (releases(action)) return { mode: 'Free' }
    if (action === 'approveAll') return { isApproved: true }
    return action === 'tag' || action === 'untag' ? { tags: tagChanges(action, hashtags, uuids) } : null
  }

  /** Returns the Windows hosts of a selection that must not be armed. */
  const refusedOf = async (action: BulkAction, where: SqlFragment): Promise<ReadonlyMap<string, WindowsRefusal>> =>
    action === 'arm' ? windows.refused(db, where) : new Map()

  const revertOf = async (tx: Queryable, { revertMinutes }: Selection, where: SqlFragment): Promise<number> =>
    revertMinutesOf(revertMinutes, await read.armedWith(tx, where))

  async function preview(
    actor: Actor,
    { withNames = false, ...selection }: BodyOf<typeof previewBulk>,
  ): Promise<Preview> {
    const { action } = selection
    const isNamed = withNames && action === 'arm'
    const hashtags = tagsOf(selection)
    const all = whereOf(selection)
    const refused = await refusedOf(action, all)
    const where = refused.size === 0 ? all : read.without(all, [...refused.keys()])
    const groups = await read.groups(where)
    const builds = await buildsFor(action, groups)
    const sum = (some: readonly TargetGroup[]): number => some.reduce((n, group) => n + group.agents, 0)
    const reasons = new Map<string, number>()
    const unknown = selection.uuids === undefined ? 0 : new Set(selection.uuids).size - sum(groups) - refused.size
    if (unknown > 0) reasons.set('This host does not exist.', unknown)
    const able = groups.filter((group) => {
      const reason = impossible(action, group, builds)
      if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + group.agents)
      return reason === null
    })
    const count = sum(able)
    const isTags = action === 'tag' || action === 'untag'
    const named = isTags ? (await read.targets(db, where)).map((target) => target.agent_id) : []
    const opened = isTags ? await policy.tagGate.measure(db, tagChanges(action, hashtags, named)) : count
    const change = changeOf(selection, named)
    const { predicted, devices } =
      change === null
        ? { predicted: null, devices: undefined }
        : await policy.longRead(async (tx) => {
            const predicted = await policy.predict(tx, change, { hosts: where })
            const devices = isNamed ? await devicesBlocked(predicted) : undefined
            return { predicted, devices }
          })
    const arming = action === 'arm' ? predicted?.totals : undefined
    return {
      action,
      agents: count,
      impossible: [...[...reasons].map(([reason, n]) => ({ reason, agents: n })), ...refusalsOf(refused)],
      ...(action === 'arm' ? { grades: gradesOf(able), revertMinutes: await revertOf(db, selection, where) } : {}),
      disconnected: sum(able.filter((group) => !group.connected && !group.agentless)),
      unchanged: sum(able.filter((group) => isUnchanged(action, group))),
      blocked: devicesOf(arming?.attachedBlocked),
      attackTools: arming?.stopsWorking.attackTools ?? 0,
      mismatched: devicesOf(arming?.mismatched),
      worksAgain: predicted?.stated.worksAgain ?? { agents: 0, peripherals: 0, attackTools: 0 },
      secondPerson: await needsApprover(actor, action, opened),
      prediction: predicted?.stated ?? null,
      ...(devices === undefined ? {} : { devices, leftOut: await hostsLeftOut(db, all, refused) }),
    }
  }

  /**
   * Creates a job for hosts. Returns its id.
   *
   * @throws conflict if the person has `mostPerPerson` running jobs
   */
  async function enqueue(
    tx: Tx,
    actor: Actor,
    job: Omit<BulkJob, 'actor'>,
    bounds: { mostPerPerson?: number } = {},
  ): Promise<string> {
    const { userName, accountId, profile, permissions, ip } = actor
    const title = `${actionTitles[job.action]}: ${hostsText(job.uuids.length)}`
    const id = await jobs.enqueue(tx, actor, {
      kind: isMode(job.action) ? modeJobs : otherJobs,
      title,
      total: job.uuids.length,
      canCancel: true,
      ...bounds,
      data: { ...job, actor: { userName, accountId, profile, permissions: [...permissions], ip } } satisfies BulkJob,
    })
    if (isMode(job.action)) await commands.orderModes(tx, id, job.uuids)
    return id
  }

  /** Returns the tags that the action adds or removes, or else those that selected the hosts. */
  const namedTags = (given: BodyOf<typeof runBulk>, hashtags: readonly string[]): readonly string[] =>
    hashtags.length > 0 ? hashtags : (given.filter?.Hashtags ?? '').split(',').filter((name) => name !== '')

  async function run(actor: Actor, given: BodyOf<typeof runBulk>): Promise<Result> {
    const { action } = given
    if (action === 'update') assertFresh(actor, clock.now())
    const hashtags = tagsOf(given)
    const where = whereOf(given)
    const targets = await read.targets(db, where)
    const builds = await buildsFor(action, targets)
    const refused = await refusedOf(action, where)
    const able = targets.filter(
      (target) => !refused.has(target.agent_id) && impossible(action, target, builds) === null,
    )
    const asked = given.uuids === undefined ? targets.length : new Set(given.uuids).size
    if (given.expectedAgents !== undefined && given.expectedAgents !== able.length)
      throw new AppError('conflict', {
        detail: `This action now affects ${hostsText(able.length)}, not ${given.expectedAgents}. Review the preview and try again.`,
      })
    const uuids = able.map((target) => target.agent_id)
    const reason = given.reason?.trim() ?? ''
    const why = reason === '' ? {} : { reason }
    const skipped = asked - uuids.length
    const withReasons = refused.size === 0 ? {} : { refused: refusalsOf(refused) }
    if (uuids.length === 0) return { accepted: 0, skipped, jobId: null, ...withReasons }
    if (releases(action))
      await changeRequests.assertAlone<BulkRelease>(actor, { kind: 'release', hosts: uuids.length }, () => ({
        kind: 'bulk',
        change: { action, uuids, ...why },
      }))
    if (action === 'update') await refuseUpdate(changeRequests, actor, uuids, builds)
    let counted = 0
    if (action === 'approveAll') {
      counted = await policy.approvable(uuids)
      await changeRequests.assertAlone<BulkRelease>(actor, { kind: 'allow', hosts: counted }, async () => ({
        kind: 'bulk',
        change: { action, uuids, devices: await policy.attachedTo(uuids), ...why },
      }))
    }
    if (action === 'tag' || action === 'untag') {
      const outcome = await db.transaction(async (tx) => {
        const { hosts, refused } = await policy.tagGate.take(tx, actor, tagChanges(action, hashtags, uuids))
        const change: BulkRelease = { action, uuids, hashtags, ...why }
        return refused === null ? hosts : new NeedsApprover({ kind: 'bulk', change, ...refused })
      })
      counted = await changeRequests.settle<number>(actor, outcome)
    }
    const jobId = await transactionAgain(db, async (tx) => {
      const revertMinutes = action === 'arm' ? await revertOf(tx, given, read.named(uuids)) : undefined
      const applyToPresent = given.applyToPresent === true
      const order = { action, applyToPresent, revertMinutes, uuids, hashtags, counted, ...why }
      const id = await enqueue(tx, actor, order, { mostPerPerson: jobsPerPerson })
      await recordJob(audit, tx, actor, {
        action,
        uuids,
        jobId: id,
        revertMinutes,
        selection: given.filter === undefined ? 'hosts by name' : `filter ${JSON.stringify(given.filter)}`,
        reason,
        tags: namedTags(given, hashtags),
      })
      return id
    })
    return { accepted: uuids.length, skipped, jobId, ...withReasons }
  }

  /**
   * Runs one step of a job in one transaction. Returns the number of hosts that were changed, directly or by a command,
   * and the number of hosts on which devices are newly allowed. Rules may have changed since the job was created, so
   * hosts beyond the `approved` ones are counted again.
   */
  async function step(
    tx: Tx,
    job: BulkJob,
    actor: Actor,
    { jobId, onlyMarked }: { jobId: string; onlyMarked: boolean },
    some: readonly string[],
    approved: number | 'all',
  ) {
    const targets = await read.targets(tx, read.named(some))
    if (job.action === 'cancelCommands') {
      await commands.cancel(tx, actor, some)
      return { ended: targets.length, queued: [], order: targets, opened: 0 }
    }
    if (job.action === 'approveAll') {
      const agentIds = targets.map((target) => target.agent_id)
      const { reason, devices: only } = job
      const done = await policy.approvePresent(tx, actor, agentIds, { approved, only, reason, jobId })
      if (done instanceof NeedsApprover) throw opensMore()
      if (done.record !== null) await audit.write(tx, actor, done.record)
      // The record of the approval names the hosts already.
      const order = done.record === null ? targets : []
      return { ended: targets.length, queued: [], order, opened: done.hosts }
    }
    if (job.action === 'tag' || job.action === 'untag') {
      const ids = await tags.ensureTags(tx, job.hashtags ?? [])
      const hosts = targets.map((target) => target.agent_id)
      const changes = tagChanges(job.action, job.hashtags ?? [], hosts)
      const { hosts: opened, refused } = await policy.tagGate.take(tx, actor, changes, approved)
      if (refused !== null) throw opensMore()
      if (job.action === 'tag') await tags.tagAgents(tx, hosts, ids)
      else await tags.untagAgents(tx, hosts, ids)
      return { ended: targets.length, queued: [], order: targets, opened }
    }
    const builds = await buildsFor(job.action, targets)
    const able = targets.filter((target) => impossible(job.action, target, builds) === null)
    const specs = able.flatMap((target) => commandFor(job.action, target, { ...job, builds, jobId }) ?? [])
    const commanded = new Set(specs.map((spec) => spec.agentId))
    const unable = onlyMarked ? some.filter((id) => !commanded.has(id)) : []
    if (unable.length > 0) await commands.dropModes(tx, jobId, some, unable)
    const { queued, refused } = await commands.queue(tx, actor, specs, { onlyMarked })
    if (onlyMarked && refused.size > 0) await commands.dropModes(tx, jobId, some, [...refused.keys()])
    const ordered = new Set(queued)
    return { ended: 0, queued, order: able.filter((target) => ordered.has(target.agent_id)), opened: 0 }
  }

  async function work(run: JobRun, onlyMarked: boolean): Promise<'done' | 'waits'> {
    const job = run.data as BulkJob
    const actor: Actor = {
      ...job.actor,
      permissions:
        job.actor.permissions === undefined ? permissionSetOf(job.actor.profile) : new Set(job.actor.permissions),
      kind: 'session',
      credentialId: null,
      mustChangePassword: false,
      secondFactorDueAt: null,
      authenticatedAt: null,
    }
    let { opened } = (run.tally as { opened: number } | null) ?? { opened: 0 }
    const size = endsHere.has(job.action) ? hostsPerStep.other : hostsPerStep.command
    for (let at = (run.cursor as number | null) ?? 0; at < job.uuids.length; at += size) {
      const some = job.uuids.slice(at, at + size)
      const next = at + size
      if (job.action === 'delete') {
        // Runs in its own transaction. After a crash, a second run finds nothing more to do.
        await agents.remove(actor, some)
        await db.transaction((tx) => run.save(tx, { done: some.length, cursor: next }))
        continue
      }
      const approved = job.counted === undefined ? 'all' : Math.max(0, job.counted - opened)
      opened += await transactionAgain(db, async (tx) => {
        const done = await step(tx, job, actor, { jobId: run.id, onlyMarked }, some, approved)
        await run.save(tx, {
          done: done.ended,
          failed: some.length - done.ended - done.queued.length,
          cursor: next,
          tally: { opened: opened + done.opened },
        })
        await recordOrder(audit, tx, actor, job.action, done.order, job.revertMinutes)
        return done.opened
      })
    }
    return endsHere.has(job.action) ? 'done' : 'waits'
  }

  const cancelled = (run: JobRun) => commands.cancelJob(run.id, 'The job was cancelled.')
  // These include jobs of earlier releases that arm or free hosts, which have no marks.
  jobs.handle(otherJobs, {
    run: (run) => work(run, false),
    cancelled: async (run) => {
      await cancelled(run)
    },
  })
  jobs.handle(modeJobs, {
    run: (run) => work(run, true),
    cancelled: async (run) => {
      await commands.withdrawModes(run.id, (run.data as BulkJob).uuids, null)
      await cancelled(run)
    },
    failed: async (run) => {
      const { action, uuids } = run.data as BulkJob
      await commands.withdrawModes(run.id, uuids, actionTitles[action])
    },
  })

  return {
    preview,
    run,
    enqueue,
    /** Counts the blocked devices that work again after an action on hosts. */
    worksAgain: async (tx: Tx, { action, uuids, hashtags = [] }: BulkRelease): Promise<WorksAgain> => {
      const change = changeOf({ action, hashtags: [...hashtags] }, uuids)
      return (await policy.predict(tx, change ?? {}, { hosts: read.named(uuids), isTimed: false })).stated.worksAgain
    },
  }
}
