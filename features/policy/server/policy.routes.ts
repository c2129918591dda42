import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import { JsonText } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { unknownValue } from '@portcullis/platform/server/http/names.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import {
  acceptFinding,
  type BodyOf,
  createPolicyGrant,
  createPolicyRule,
  decideDevices,
  deletePolicyGrant,
  deletePolicyRule,
  getPolicy,
  getPolicyTest,
  icons,
  importPolicyRules,
  listAcceptedFindings,
  listPolicyGrants,
  listPolicyRules,
  peripheralsCommand,
  policyActivity,
  policyApprovals,
  policyHistory,
  previewPolicy,
  previewTags,
  restorePolicy,
  revokeAcceptedFinding,
  testPolicyDraft,
  undoPolicyJob,
  undoPolicyVersion,
  updatePolicyGrant,
  updatePolicyRule,
  updatePolicySettings,
} from '#features/contract.ts'
import type { AcceptedFindings } from './accepted.service.ts'
import type { Approvals } from './approvals.service.ts'
import type { Drafts } from './draft.service.ts'
import type { RuleImports } from './import.service.ts'
import type { PolicyOverview } from './overview.service.ts'
import type { PolicyContext } from './policy.context.ts'
import { isGrant, isNoGrant, isUngrouped, type PolicyRead, rulesList } from './policy.read.ts'
import { createPolicyTest } from './policy-test.service.ts'
import type { Restore } from './restore.service.ts'
import type { Rules } from './rules.service.ts'
import { suggestedScope } from './suggested-scope.ts'
import type { PolicyTagGate } from './tag-gate.ts'

/** How long devices that were blocked and then detached wait for an approval. */
const waitingMs = 7 * 86_400_000

const pageOf = (query: { PageNumber?: number; PageSize?: number }) => {
  const limit = query.PageSize ?? 50
  return { limit, offset: ((query.PageNumber ?? 1) - 1) * limit }
}

const iconName = (icon: number): string => (icons as Readonly<Record<number, string>>)[icon] ?? 'Unknown'

/** Returns the condition for a list of these levels. Lists grants only if they are named. */
const ofLevels = (levels = ''): SqlFragment | undefined => {
  const asked = new Set(levels.split(',').flatMap((level) => level.trim().toLowerCase() || []))
  if (!asked.has('grant')) return isNoGrant
  return asked.size === 1 ? isGrant : undefined
}

const asGrant = (body: BodyOf<typeof createPolicyGrant>) => ({ ...body, effect: 'allow', isGrant: true }) as const

const decisions = ['allow', 'block'] as const

/** Returns the requested decision; null: any. */
const decisionOf = (given: string | undefined): (typeof decisions)[number] | null => {
  const asked = new Set<(typeof decisions)[number]>()
  for (const part of (given ?? '').split(',')) {
    const name = part.trim().toLowerCase()
    if (name === '') continue
    const known = decisions.find((one) => one === name)
    if (known === undefined) throw invalid('query.decision', unknownValue(name, decisions))
    asked.add(known)
  }
  const [only] = asked
  return asked.size === 1 && only !== undefined ? only : null
}

export const registerPolicyRoutes = (
  app: HttpApp,
  context: PolicyContext,
  parts: {
    read: PolicyRead
    written: Rules
    imports: RuleImports
    restore: Restore
    approvals: Approvals
    findings: AcceptedFindings
    drafts: Drafts
    tagGate: PolicyTagGate
    overview: PolicyOverview
  },
): void => {
  const { db, clock } = context
  const { read, written, imports, restore, approvals, findings, drafts, tagGate, overview } = parts
  const rules = createList(rulesList, context)
  const test = createPolicyTest(context, drafts)
  app.register(getPolicy, () => overview.read())
  app.register(updatePolicySettings, ({ actor, body }) => overview.save(actor, body))
  app.register(listPolicyRules, ({ query: { IsUngrouped, ...query } }) =>
    rules.page(query, IsUngrouped === true ? isUngrouped : ofLevels(query.level)),
  )
  app.register(createPolicyRule, ({ actor, body }) => written.write(actor, body, null))
  app.register(importPolicyRules, ({ actor, body }) => imports.run(actor, body))
  app.register(updatePolicyRule, ({ actor, params, body }) => written.write(actor, body, params.id))
  app.register(deletePolicyRule, ({ actor, params, query }) => written.remove(actor, params.id, query))
  app.register(listPolicyGrants, ({ query }) => rules.page({ SortBy: 'expiresAt_asc', ...query }, isGrant))
  app.register(createPolicyGrant, ({ actor, body }) => written.write(actor, asGrant(body), null))
  app.register(updatePolicyGrant, ({ actor, params, body }) => written.write(actor, asGrant(body), params.id))
  app.register(deletePolicyGrant, ({ actor, params, query }) => written.remove(actor, params.id, query, true))
  app.register(previewPolicy, ({ actor, body }) => drafts.preview(actor, body))
  app.register(previewTags, ({ actor, body }) =>
    tagGate.preview(
      db,
      actor,
      body.changes.map(({ effect, hashtags, uuids }) => ({
        effect,
        names: hashtags,
        agentIds: uuids?.filter(isId) ?? null,
      })),
    ),
  )
  app.register(policyHistory, async ({ query }) => {
    const { limit, offset } = pageOf(query)
    const { total, rows } = await read.versions(limit, offset)
    return new JsonText(JSON.stringify({ recordsTotal: total, recordsFiltered: total, data: rows }))
  })
  app.register(restorePolicy, ({ actor, body }) =>
    restore.to(actor, body.version, { dryRun: body.dryRun === true, reason: body.reason?.trim() ?? '' }),
  )
  app.register(undoPolicyVersion, ({ actor, params, body }) =>
    restore.undo(actor, params.version, { dryRun: body.dryRun === true, reason: body.reason?.trim() ?? '' }),
  )
  app.register(undoPolicyJob, ({ actor, params, body }) =>
    restore.undoJob(actor, params.id, { dryRun: body.dryRun === true, reason: body.reason?.trim() ?? '' }),
  )
  app.register(decideDevices, ({ actor, body }) => approvals.decide(actor, body))
  app.register(policyActivity, async ({ query }) => ({
    data: await read.activity(new Date(clock.now()), query.days ?? 14),
  }))
  app.register(policyApprovals, async ({ query }) => {
    const { limit, offset } = pageOf(query)
    const { total, filtered, rows } = await read.approvals(query, new Date(clock.now() - waitingMs), limit, offset)
    const data = rows.map(({ tag, ...row }) => ({
      ...row,
      devIconDescription: iconName(row.devIcon),
      suggestion: suggestedScope({ ...row, tag }),
    }))
    return new JsonText(JSON.stringify({ recordsTotal: total, recordsFiltered: filtered, data }))
  })
  app.register(getPolicyTest, ({ query }) => {
    const host = query.hostUuid || null
    if (host !== null && !isId(host)) throw invalid('query.hostUuid', 'is not the uuid of an agent')
    const decision = decisionOf(query.decision)
    return test.inForce({
      days: query.days,
      tags: (query.hashtags ?? '')
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      host,
      page: { only: decision, ...pageOf(query) },
    })
  })
  app.register(testPolicyDraft, ({ actor, body }) =>
    test.ofDraft(actor, body.draft, {
      days: body.days,
      tags: body.hashtags ?? [],
      host: null,
      page: {
        only: body.decision ?? null,
        ...pageOf({
          ...(body.pageNumber === undefined ? {} : { PageNumber: body.pageNumber }),
          ...(body.pageSize === undefined ? {} : { PageSize: body.pageSize }),
        }),
      },
    }),
  )
  app.register(listAcceptedFindings, () => findings.list())
  app.register(acceptFinding, ({ actor, body }) => findings.accept(actor, body))
  app.register(revokeAcceptedFinding, ({ actor, params, query }) =>
    findings.revoke(actor, params.id, query.reason?.trim() ?? ''),
  )
  app.register(peripheralsCommand, ({ actor, body }) => approvals.command(actor, body))
}
