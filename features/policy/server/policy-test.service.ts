import { isAllowing, sourceOf } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { type PolicyDraft, type PolicyTestRow, predictedDays } from '#features/contract.ts'
import { decider, decisionReason } from '#features/devices/server/index.ts'
import type { Drafts } from './draft.service.ts'
import type { PolicyContext } from './policy.context.ts'
import type { PredictedPage, PredictedRow } from './predict.read.ts'
import type { Change, PredictionScope } from './predict.ts'

/** The part of the stored inventory and history to test. */
export interface TestSelection {
  days?: number | undefined
  tags: readonly string[]
  host: string | null
  page: PredictedPage
}

export const testedRow = (row: PredictedRow): PolicyTestRow => ({
  uuid: row.agentId,
  hostIdentifier: row.host,
  deviceID: row.deviceId,
  vid: row.vid,
  pid: row.pid,
  guiVid: row.vendor,
  guiPid: row.product,
  devIcon: row.icon,
  isKnownAttackTool: row.isTool,
  decision: isAllowing(sourceOf(row.source)) ? 'allow' : 'block',
  reason: decisionReason(row.source, row.ruleReason),
  rule: decider(row.source, row.ruleId),
  lastSeen: row.lastSeen,
  attachments: row.attachments,
})

/** Simulates arming: evaluates every device of the stored inventory and history as if newly attached to an armed host. */
export const createPolicyTest = ({ longRead, predict, scopes }: PolicyContext, drafts: Drafts) => {
  const scopeOf = ({ days = predictedDays, tags, host }: TestSelection): PredictionScope => ({
    days,
    hosts: scopes.chosen(host, tags),
    isEveryGrade: host !== null,
  })

  const run = (selection: TestSelection, changeOf: (tx: Tx) => Promise<Change>) =>
    longRead(async (tx) => {
      const { page, days = predictedDays } = selection
      const predicted = await predict(tx, { ...(await changeOf(tx)), mode: 'Armed' }, scopeOf(selection))
      const { stated } = predicted
      const { computedAt, agents, peripherals, attachments, blocked } = stated
      const rows = await predicted.page(page)
      const filtered = { allow: peripherals - blocked.peripherals, block: blocked.peripherals }
      return {
        ...{ computedAt, days, agents, peripherals, attachments, blocked },
        recordsTotal: peripherals,
        recordsFiltered: page.only === null ? peripherals : filtered[page.only],
        data: rows.map(testedRow),
        prediction: stated,
      }
    })

  return {
    /** The stored decisions are already those of an armed host. */
    inForce: (selection: TestSelection) => run(selection, async () => ({})),

    ofDraft: (actor: Actor, draft: PolicyDraft, selection: TestSelection) =>
      run(selection, async (tx) => ({ rules: await drafts.rulesOf(tx, actor, draft) })),
  }
}
