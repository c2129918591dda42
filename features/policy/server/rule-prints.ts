import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { PeripheralsApi } from '#features/devices/server/index.ts'
import type { DevicesRead } from './devices.read.ts'
import type { IdentityPart } from './seal.ts'

/**
 * Finds the rule fingerprints of fingerprints without revision that devices have reported. It computes both fingerprints from
 * the stored descriptors, so a changed row of the database cannot name another model.
 */
export const createRulePrints =
  ({
    devices,
    designs,
  }: {
    devices: Pick<DevicesRead, 'withoutRevision'>
    designs: Pick<PeripheralsApi['designs'], 'byIds'>
  }) =>
  async (q: Queryable, fingerprints: readonly string[]): Promise<Map<string, string>> => {
    if (fingerprints.length === 0) return new Map()
    const ids = (await devices.withoutRevision(q, [...new Set(fingerprints)])).map((row) => row.design_id)
    return new Map(
      [...(await designs.byIds(ids)).values()].flatMap(({ device }) =>
        device.ruleFingerprint === '' ? [] : [[device.fingerprintWithoutRevision, device.ruleFingerprint] as const],
      ),
    )
  }

export type RulePrints = ReturnType<typeof createRulePrints>

/**
 * Returns what a written rule binds. A serial number that an earlier release cleaned keeps its mark until somebody changes
 * it.
 */
export const identityOf = async (
  q: Queryable,
  rulePrints: RulePrints,
  { fingerprint, serial }: { fingerprint: string | null; serial: string | null },
  known: (IdentityPart & { serial: string | null }) | null,
): Promise<Required<IdentityPart>> => ({
  rule_fingerprint: fingerprint === null ? null : ((await rulePrints(q, [fingerprint])).get(fingerprint) ?? null),
  exact_serial: known === null || known.serial !== serial || known.exact_serial === true,
})
