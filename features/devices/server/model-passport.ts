import { isAllowing, sourceOf, type Vulnerability } from '@portcullis/domain'
import { notFound } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import {
  type getModelPassport,
  modelPassportLimits,
  type PeripheralModel,
  type ResponseOf,
} from '#features/contract.ts'
import { decisionReason } from './decision-labels.ts'
import { createModelPassportRead, modelWithId } from './model-passport.read.ts'

const byId = (vulnerabilities: readonly Vulnerability[]): Vulnerability[] => [
  ...new Map(vulnerabilities.map((one) => [`${one.id} ${one.firmwareCondition}`, one])).values(),
]

export type ModelPassport = ReturnType<typeof createModelPassport>

/** Returns where the devices of a model are, and what is known about them. */
export const createModelPassport = ({ db, clock }: { db: Queryable; clock: Clock }, models: List) => {
  const read = createModelPassportRead(db)
  return async (model: string): Promise<ResponseOf<typeof getModelPassport>> => {
    const [vid = '', pid = ''] = model.toUpperCase().split(':')
    const id = await read.idOf(vid, pid)
    const [row] = id === undefined ? [] : await models.rowsWhere(modelWithId(id), 1)
    if (id === undefined || row === undefined) throw notFound('No host has reported a device of this model.')
    const { devices: mostDevices, fingerprints: mostFingerprints, decisions: mostDecisions, days } = modelPassportLimits
    const midnight = Math.floor(clock.now() / 86_400_000) * 86_400_000
    const [counts, fingerprints, findings] = await Promise.all([
      read.counts(id, new Date(midnight - (days - 1) * 86_400_000), mostDevices + 1),
      read.fingerprints(id, mostFingerprints + 1),
      read.findings(id),
    ])
    return {
      model: JSON.parse(row) as PeripheralModel,
      days: counts.days,
      earlierHosts: counts.earlier_hosts,
      decisions: counts.decisions
        .slice(0, mostDecisions)
        .map(({ source, rule_id: ruleID, reason, hosts, devices }) => ({
          decision: isAllowing(sourceOf(source)) ? 'allow' : 'block',
          reason: decisionReason(source, reason),
          ruleID,
          hosts,
          devices,
        })),
      fingerprints: fingerprints.slice(0, mostFingerprints).map(({ vulnerabilities: _, ...one }) => one),
      vulnerabilities: byId(fingerprints.flatMap(({ vulnerabilities }) => vulnerabilities)),
      findings,
      serials: counts.serials,
      isComplete:
        counts.devices <= mostDevices &&
        counts.decisions.length <= mostDecisions &&
        fingerprints.length <= mostFingerprints,
    }
  }
}
