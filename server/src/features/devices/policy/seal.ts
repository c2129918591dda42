import { createHmac, timingSafeEqual } from 'node:crypto'
import { fold } from '#platform/list/columns.ts'
import type { Secret } from '#platform/secret.ts'

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
  return {
    sealOf,
    isAuthentic: (row: SealedPart & { seal: Buffer }): boolean => {
      const seal = sealOf(row)
      return row.seal.length === seal.length && timingSafeEqual(row.seal, seal)
    },
  }
}

export type Seals = ReturnType<typeof createSeals>
