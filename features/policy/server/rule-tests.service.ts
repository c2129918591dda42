import {
  cleanText,
  countText,
  escapeText,
  isAllowing,
  type PolicyDecision,
  sourceNumber,
  sourceOf,
  unescapeText,
} from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { isPgError, type Queryable, type Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { mostRuleTests, type RuleTest, type RuleTestBody } from '#features/contract.ts'
import { decisionReason, deviceOf } from '#features/devices/server/index.ts'
import type { Affected } from './affected.store.ts'
import type { PolicyBaseContext } from './context.ts'
import { authenticOf } from './forged.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import { allRuleTests, type HostedTest, putRuleTest, type RuleTestRow, removeRuleTest } from './rule-tests.store.ts'
import { concernedBy, decideTests, decisionOf } from './rule-tests.ts'
import type { Seals } from './seal.ts'

interface ChangedRules {
  gone: readonly RuleRow[]
  write: readonly RuleRow[]
}

/** A test that passes now and would fail after a change. */
interface BrokenTest {
  id: string
  name: string
  expected: 'allow' | 'block'
  decision: 'allow' | 'block'
  why: string
}

const namedMost = 100

const bodyOf = (row: RuleTestRow) => ({
  Name: row.name,
  Expected: row.expected,
  Device: `${row.vid}:${row.pid} ${row.serial}`.trim(),
  Kinds: row.kinds.join(', '),
  Fingerprint: row.fingerprint ?? '',
  'Attack tool': String(row.is_attack_tool),
  Host: row.agent_id ?? '',
  Tag: row.tag_name ?? '',
})

/** Stores and runs rule tests: expected decisions about sample devices. */
export const createRuleTests = (
  { db, clock, audit, peripherals }: Pick<PolicyBaseContext, 'db' | 'clock' | 'audit' | 'peripherals'>,
  store: PolicyStore,
  seals: Seals,
  affected: Pick<Affected, 'rulePrints'>,
) => {
  /** Returns the rules in force that may decide these tests. */
  async function rulesAbout(q: Queryable, tests: readonly HostedTest[]): Promise<RuleRow[]> {
    const vids = new Set(tests.map(({ vid }) => vid))
    const hosts = [...new Set(tests.flatMap(({ agent_id }) => agent_id ?? []))]
    const wide = (await store.wide(q)).filter(({ vid }) => vid === null || vids.has(vid))
    const own = hosts.length === 0 ? [] : await store.ownAbout(q, [...vids], hosts)
    const authentic = await authenticOf([...wide, ...own], seals)
    return authentic.map((row) => seals.withIdentity(row))
  }

  const printsOf = (q: Queryable, tests: readonly HostedTest[]) =>
    affected.rulePrints(
      q,
      tests.flatMap(({ fingerprint }) => fingerprint ?? []),
    )

  /** Returns the tests that pass now and would fail after a rule change. */
  async function brokenBy(q: Queryable, { gone, write }: ChangedRules): Promise<BrokenTest[]> {
    const changed = [...gone, ...write]
    const tests = concernedBy(changed, await allRuleTests(q))
    if (tests.length === 0) return []
    const inForce = await rulesAbout(q, tests)
    const prints = await printsOf(q, tests)
    const replaced = new Set(changed.map((rule) => rule.rule_id))
    const rules = [...inForce.filter((rule) => !replaced.has(rule.rule_id)), ...write]
    const reasons = new Map(rules.map((rule) => [rule.rule_id, rule.reason]))
    const before = await decideTests(tests, inForce, prints, clock.now())
    const after = await decideTests(tests, rules, prints, clock.now())
    return tests.flatMap((test, i) => {
      const [was, is] = [before[i], after[i]]
      if (was === undefined || is === undefined || decisionOf(was) !== test.expected) return []
      if (decisionOf(is) === test.expected) return []
      const { test_id: id, name, expected } = test
      return [{ id, name, expected, decision: decisionOf(is), why: whyOf(is, reasons.get(is.ruleId ?? '')) }]
    })
  }

  const whyOf = ({ source }: PolicyDecision, reason: string | undefined): string =>
    decisionReason(sourceNumber(source), reason ?? null)

  /** Throws if a change makes a passing test fail. */
  async function assertPass(q: Queryable, change: ChangedRules): Promise<void> {
    const broken = await brokenBy(q, change)
    if (broken.length === 0) return
    const names = broken.map(({ name }) => name)
    throw new AppError(
      'policy_tests_failed',
      { tests: `${countText(names.length, 'test')} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})` },
      {
        errors: broken.slice(0, namedMost).map(({ name, expected, decision, why }) => ({
          field: name,
          message: `expected ${expected}, new decision ${decision}: ${why}`,
        })),
      },
    )
  }

  /** Returns tests with their current results. */
  async function resultsOf(q: Queryable, tests: readonly HostedTest[]): Promise<RuleTest[]> {
    if (tests.length === 0) return []
    const decisions = await decideTests(tests, await rulesAbout(q, tests), await printsOf(q, tests), clock.now())
    const shown = await store.shown(q, [...new Set(decisions.flatMap(({ ruleId }) => ruleId ?? []))])
    const results = tests.flatMap((row, i): RuleTest[] => {
      const decided = decisions[i]
      if (decided === undefined) return []
      const rule = shown.get(decided.ruleId ?? '')
      const { test_id: id, name, expected, vid, pid, serial, kinds, fingerprint, agent_id: host } = row
      return [
        {
          ...{ id, name, expected, vid, pid, serial, kinds, fingerprint, host },
          isAttackTool: row.is_attack_tool,
          tag: row.tag_name,
          hostIdentifier: row.host,
          decision: decisionOf(decided),
          passes: decisionOf(decided) === expected,
          rule: rule === undefined ? null : { id: rule.id, sentence: rule.sentence },
          why: whyOf(decided, rule?.reason),
          changedAt: row.changed_at.toISOString(),
          changedBy: row.changed_by,
        },
      ]
    })
    return results.sort((a, b) => Number(a.passes) - Number(b.passes))
  }

  async function rowOf(tx: Tx, actor: Actor, body: RuleTestBody, known: RuleTestRow | undefined): Promise<RuleTestRow> {
    const name = body.name.trim().normalize('NFC')
    if (name === '') throw invalid('body.name', 'must not be empty')
    if (body.host !== null && body.tag !== null) throw invalid('body.tag', 'cannot be combined with host')
    if (body.host !== null && !(isId(body.host) && (await store.hostExists(tx, body.host))))
      throw invalid('body.host', 'no agent has this uuid')
    const tag = body.tag === null ? null : await store.tagByName(tx, fold(body.tag.trim()))
    if (tag === undefined) throw invalid('body.tag', `tag ${body.tag} does not exist`)
    return {
      test_id: known?.test_id ?? newId(clock.now()),
      ...{ name, name_key: fold(name), expected: body.expected },
      ...{ vid: body.vid.toUpperCase(), pid: body.pid.toUpperCase() },
      serial: escapeText(unescapeText(body.serial.trim())),
      kinds: [...new Set(body.kinds)].sort(),
      fingerprint: body.fingerprint,
      is_attack_tool: body.isAttackTool,
      agent_id: body.host,
      tag_name: tag?.name ?? null,
      changed_at: new Date(clock.now()),
      changed_by: actor.userName,
    }
  }

  async function existing(tx: Tx, id: string, ifChangedAt?: string): Promise<HostedTest> {
    const row = (await allRuleTests(tx)).find(({ test_id }) => test_id === id)
    if (row === undefined) throw notFound('No rule test has this ID.')
    if (ifChangedAt !== undefined && new Date(ifChangedAt).getTime() !== row.changed_at.getTime())
      throw new AppError('conflict', {
        detail: `${row.changed_by} changed this test at ${row.changed_at.toISOString()}. Nothing was saved. Compare the changes and save again.`,
      })
    return row
  }

  /** Adds a test, or replaces the one with this ID. Rule changes wait for it. */
  async function write(
    actor: Actor,
    { ifChangedAt, ...body }: RuleTestBody & { ifChangedAt?: string },
    id: string | null,
  ): Promise<RuleTest> {
    try {
      return await db.transaction(async (tx) => {
        await store.lockHead(tx)
        const old = id === null ? undefined : await existing(tx, id, ifChangedAt)
        const row = await rowOf(tx, actor, body, old)
        if (old === undefined && (await allRuleTests(tx)).length >= mostRuleTests)
          throw new AppError('conflict', { detail: `There are already ${mostRuleTests} tests. Delete one first.` })
        await putRuleTest(tx, row)
        const [saved] = await resultsOf(tx, [await existing(tx, row.test_id)])
        if (saved === undefined) throw notFound('No rule test has this ID.')
        const [before, after] = [old === undefined ? {} : bodyOf(old), bodyOf(row)] as Record<string, string>[]
        await audit.write(tx, actor, {
          action: old === undefined ? 'policy.test.created' : 'policy.test.changed',
          ...{ entity: row.name, details: JSON.stringify(after), severity: 4 },
          facts: Object.keys(after ?? {})
            .map((key) => ({ name: key, before: before?.[key] ?? '', after: after?.[key] ?? '' }))
            .filter((fact) => fact.before !== fact.after),
        })
        return saved
      })
    } catch (error) {
      if (isPgError(error, '23505'))
        throw new AppError('conflict', { detail: `Another test has the name ${body.name}.` }, { cause: error })
      throw error
    }
  }

  return {
    assertPass,
    brokenBy,
    list: async () => resultsOf(db, await allRuleTests(db)),
    write,
    /** Returns a draft test that expects the current decision about a stored device. */
    sample: (uuid: string, deviceID: string): Promise<RuleTestBody> =>
      db.transaction(async (tx) => {
        const rows = isId(uuid) ? await peripherals.storedOf(tx, [uuid]) : []
        const row = rows.find(({ device_id }) => device_id === deviceID)
        const fingerprint = (await peripherals.fingerprints.byIds(row === undefined ? [] : [row.design_id])).get(
          row?.design_id ?? 0,
        )
        if (row === undefined || fingerprint === undefined) throw notFound('This host never had a device with this ID.')
        const { vid, pid, productName, vendorName } = fingerprint
        const device = deviceOf(fingerprint, { serial: row.serial, speed: row.speed, portPath: row.port_path })
        const host = (await store.hostNames(tx, [uuid])).get(uuid) ?? uuid
        return {
          name: cleanText(`${productName || vendorName || `${vid}:${pid}`} on ${host}`).slice(0, 80),
          expected: isAllowing(sourceOf(row.source)) ? 'allow' : 'block',
          ...{ vid, pid, serial: row.serial, kinds: [...device.kinds] },
          fingerprint: device.fingerprintWithoutRevision || null,
          isAttackTool: device.attackTool !== null,
          ...{ host: uuid, tag: null },
        }
      }),
    remove: (actor: Actor, id: string): Promise<{ deleted: string }> =>
      db.transaction(async (tx) => {
        await store.lockHead(tx)
        const old = await existing(tx, id)
        await removeRuleTest(tx, id)
        await audit.write(tx, actor, {
          action: 'policy.test.deleted',
          ...{ entity: old.name, details: JSON.stringify(bodyOf(old)), severity: 4 },
        })
        return { deleted: id }
      }),
  }
}

export type RuleTests = ReturnType<typeof createRuleTests>
