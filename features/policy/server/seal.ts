import { createHmac, timingSafeEqual } from 'node:crypto'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'

/** The part of a rule that affects decisions. */
export interface SealedPart {
  rule_id: string
  effect: string
  is_grant: boolean
  vid: string | null
  pid: string | null
  serial: string | null
  kinds: readonly string[] | null
  fingerprint: string | null
  agent_id: string | null
  tag_name: string | null
  expires_at: Date | null
  reason: string
  override_attack_tool: boolean
  origin: string
}

/** The part of a rule that earlier releases do not know. */
export interface IdentityPart {
  /** Fingerprint that holds at every port and speed. Null or absent: it is unknown. */
  rule_fingerprint?: string | null
  /** True: `serial` is escaped. Otherwise an earlier release cleaned it. */
  exact_serial?: boolean
}

/** Returns the fingerprint by which a rule matches: the one for every port and speed, if there is one. */
export const printOf = (r: Pick<SealedPart & IdentityPart, 'fingerprint' | 'rule_fingerprint'>): string | null =>
  r.rule_fingerprint ?? r.fingerprint

/** Purpose of the key that seals rules. */
export const rulesPurpose = 'policy-rules'

/** Seals rules that this server writes. A row that someone inserts into the database directly has no valid seal. */
export const createSeals = (key: Secret<Buffer>) => {
  const sealOf = (r: SealedPart): Buffer =>
    createHmac('sha256', key.reveal())
      .update(
        JSON.stringify([
          r.rule_id,
          r.effect,
          r.is_grant,
          r.vid,
          r.pid,
          r.serial,
          r.kinds,
          r.fingerprint,
          r.agent_id,
          r.tag_name === null ? null : fold(r.tag_name),
          r.expires_at === null ? null : r.expires_at.toISOString(),
          r.reason,
          r.override_attack_tool,
          r.origin,
        ]),
      )
      .digest()
  const identitySealOf = (r: IdentityPart & { seal: Buffer }): Buffer =>
    createHmac('sha256', key.reveal())
      .update(JSON.stringify(['identity', r.seal.toString('hex'), r.rule_fingerprint ?? null, r.exact_serial === true]))
      .digest()
  const isSame = (seal: Buffer | null | undefined, expected: Buffer): boolean =>
    seal?.length === expected.length && timingSafeEqual(seal, expected)
  return {
    /** Returns the row with both seals. */
    sealed: <T extends SealedPart & IdentityPart>(row: T): T & { seal: Buffer; identity_seal: Buffer } => {
      const seal = sealOf(row)
      return { ...row, seal, identity_seal: identitySealOf({ ...row, seal }) }
    },
    sealOf,
    isAuthentic: (row: SealedPart & { seal: Buffer }): boolean => isSame(row.seal, sealOf(row)),
    /** Returns an authentic row with its identity if the seal matches. An earlier release that edits a rule leaves the old identity. */
    withIdentity: <T extends IdentityPart & { seal: Buffer; identity_seal?: Buffer | null }>(row: T): T =>
      isSame(row.identity_seal, identitySealOf(row)) ? row : { ...row, rule_fingerprint: null, exact_serial: false },
  }
}

export type Seals = ReturnType<typeof createSeals>
