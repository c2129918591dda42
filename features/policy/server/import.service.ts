import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { escapeText, unescapeText } from '@portcullis/domain'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { BodyOf, importPolicyRules, RuleImport } from '#features/contract.ts'
import type { Changes } from './changes.service.ts'
import { lastsAsLong } from './newly-allowed.read.ts'
import type { PolicyContext } from './policy.context.ts'
import { writtenRule } from './policy.rules.ts'
import type { RuleRow } from './policy.store.ts'
import { coveringIds } from './rule-cover.ts'
import type { Rules } from './rules.service.ts'
import { readSerialList } from './serial-list.ts'
import { covers, reaches } from './warnings.ts'

type Body = BodyOf<typeof importPolicyRules>

/** Ids of the common part, which each line replaces. */
const anyModel = { vid: '0000', pid: '0000' } as const

/** Adds one rule per serial number of a list. */
export const createImport = (context: PolicyContext, { make }: Changes, { rowOf }: Pick<Rules, 'rowOf'>) => {
  const { clock, store, seals, predict, newlyAllowed, changeRequests, longRead, ruleTests } = context

  /** Returns the rules that a list adds, and what it does not add. */
  async function planOf(tx: Queryable, actor: Actor, body: Body, list: Awaited<ReturnType<typeof readSerialList>>) {
    const { text: _, dryRun: __, group: ___, reason, ...scope } = body
    // All rules share this part. Only the device and the reason differ.
    const input = { ...scope, ...anyModel }
    const options = { actor, now: clock.now(), field: 'body', grantMaxHours: 0 }
    const needsReason = list.devices.some((device) => device.reason === '')
    const written = writtenRule({ ...input, reason: needsReason ? reason : reason.trim() || '–' }, options)
    const common = await rowOf(tx, written, actor, null, 'body')
    const agentIds = common.agent_id === null ? [] : [common.agent_id]
    const others = [...(await store.wide(tx)), ...(await store.own(tx, agentIds))]
    const candidates = coveringIds(
      others.filter((r) => r.effect === written.effect && !r.is_grant && seals.isAuthentic(r)),
    )
    const write: RuleRow[] = []
    for (const device of list.devices) {
      const row = {
        ...common,
        rule_id: newId(clock.now()),
        vid: device.vid,
        pid: device.pid,
        serial: escapeText(unescapeText(device.serial)),
        reason: device.reason === '' ? written.reason : device.reason,
      }
      const isCovered = candidates(row).some((r) => covers(r, row) && reaches(r, row) && lastsAsLong(r, row))
      if (!isCovered) write.push(seals.sealed(row))
    }
    if (others.length + write.length > agentLimits.rules)
      throw invalid(
        'body.text',
        `would make ${others.length + write.length} rules for these hosts; a host accepts at most ${agentLimits.rules}`,
      )
    const counts = {
      lines: list.lines,
      added: write.length,
      duplicates: list.lines - list.devices.length,
      covered: list.devices.length - write.length,
    }
    return { write, counts }
  }

  return {
    run: async (actor: Actor, body: Body): Promise<RuleImport> => {
      const list = await readSerialList(body.text, { vid: body.vid ?? '', pid: body.pid ?? '' })
      if (body.dryRun === true)
        return longRead(async (tx) => {
          const { write, counts } = await planOf(tx, actor, body, list)
          const rules = { gone: [], write }
          await ruleTests.assertPass(tx, rules)
          const { stated } = await predict(tx, { rules })
          const opened = await newlyAllowed.measure(tx, rules, new Date(clock.now()))
          return {
            ...{ version: (await store.versionAndOwn(tx, [])).version, ...counts, jobId: null },
            ...{ worksAgain: stated.worksAgain, newlyAllowed: opened.hosts, prediction: stated },
            secondPerson: !(await changeRequests.mayAlone(actor, { kind: 'allow', ...opened }, tx)),
          }
        })
      const done = await make(actor, async (tx) => {
        const { write, counts } = await planOf(tx, actor, body, list)
        const text = `${counts.added} added, ${counts.duplicates} repeated, ${counts.covered} already covered`
        return {
          ...{
            remove: [],
            write,
            counts,
            action: 'policy.imported' as const,
            details: text,
            reason: body.reason.trim(),
            group: body.group,
          },
          summary: `Added ${counts.added} ${counts.added === 1 ? 'rule' : 'rules'} from a list`,
        }
      })
      return { version: done.version, ...done.counts, jobId: done.jobId, worksAgain: null }
    },
  }
}

export type RuleImports = ReturnType<typeof createImport>
