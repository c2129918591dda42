import { createHash } from 'node:crypto'

/** Hash before the first record of a chain: 32 zero bytes. */
export const AUDIT_GENESIS: Buffer = Buffer.alloc(32)

/** Hash of an audit record: SHA-256 over the previous hash and `<id>\n<record>` in UTF-8. */
export const auditHash = (prevHash: Uint8Array, id: bigint | number | string, record: string): Buffer =>
  createHash('sha256').update(prevHash).update(`${id}\n${record}`, 'utf8').digest()

/** A stored audit record as the chain sees it. */
export interface AuditLink {
  id: bigint | number | string
  /** The canonical text that was hashed. */
  record: string
  hash: Uint8Array
  /** Hash of the record before, when it is stored too. */
  prevHash?: Uint8Array
}

/** Where a chain breaks, and why. */
export type AuditVerdict =
  | { ok: true; count: number; lastId: string | null; lastHash: Buffer }
  | { ok: false; count: number; brokenId: string; reason: 'order' | 'previous' | 'hash' }

const equals = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * Walks records in stored order and stops at the first that does not follow from the one before: `order` (id not
 * above the last one), `previous` (it names another predecessor: something was taken out, put in or moved), `hash`
 * (the record was changed). `from` continues a walk from a known hash, such as a checkpoint. Cutting records off the
 * end leaves a valid chain: compare `lastHash` with a checkpoint to see that.
 */
export const verifyAuditChain = (links: Iterable<AuditLink>, from: Uint8Array = AUDIT_GENESIS): AuditVerdict => {
  let previous: Uint8Array = from
  let lastId: bigint | null = null
  let count = 0
  for (const link of links) {
    const id = BigInt(link.id)
    const broken = (reason: 'order' | 'previous' | 'hash'): AuditVerdict => ({
      ok: false,
      count,
      brokenId: String(id),
      reason,
    })
    if (lastId !== null && id <= lastId) return broken('order')
    if (link.prevHash && !equals(link.prevHash, previous)) return broken('previous')
    if (!equals(link.hash, auditHash(previous, id, link.record))) return broken('hash')
    previous = link.hash
    lastId = id
    count++
  }
  return { ok: true, count, lastId: lastId === null ? null : String(lastId), lastHash: Buffer.from(previous) }
}
