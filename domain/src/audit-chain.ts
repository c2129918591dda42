import { createHash } from 'node:crypto'

/** Previous hash of the first record: 32 zero bytes. */
export const AUDIT_GENESIS: Buffer = Buffer.alloc(32)

/** Returns the hash of an audit record: SHA-256 over the previous hash and `<id>\n<record>` in UTF-8. */
export const auditHash = (prevHash: Uint8Array, id: number, record: string): Buffer =>
  createHash('sha256').update(prevHash).update(`${id}\n${record}`).digest()

/** An exported record of the audit trail, one JSON line each, with the fields in this order. */
export interface AuditLine {
  id: number
  /** Indexed columns. They are copies of fields in the record, and verification compares them with it. */
  createdAt: string
  actor: string
  action: string
  severity: number
  /** The hashed text. */
  record: string
  /** The hash in hex. */
  hash: string
}

/** Maximum bytes of a line. A record has about 9,000 characters of up to 7 bytes each. */
export const maxAuditLine = 1 << 20

const hex = /^[0-9a-f]{64}$/

/** Returns the canonical text of a line. Any changed byte, even a space, makes another text. */
export const auditLineText = ({ id, createdAt, actor, action, severity, record, hash }: AuditLine): string =>
  JSON.stringify({ id, createdAt, actor, action, severity, record, hash })

/** Parses a line. Returns null if it is not in canonical form. Reading a member of null or of a wrong type throws. */
export const parseAuditLine = (text: string): AuditLine | null => {
  try {
    const line = JSON.parse(text) as AuditLine
    return Number.isSafeInteger(line.id) &&
      line.id > 0 &&
      // A lone surrogate would be hashed as another character.
      line.record.isWellFormed() &&
      typeof line.hash === 'string' &&
      hex.test(line.hash) &&
      auditLineText(line) === text
      ? line
      : null
  } catch {
    return null
  }
}

/** Returns true if the columns match the record. Times have six fraction digits in columns and three in records. */
export const columnsAgree = ({ createdAt, actor, action, severity, record }: AuditLine): boolean => {
  try {
    const own = JSON.parse(record) as Record<string, unknown>
    return (
      createdAt === `${own.creationTime}000` &&
      actor === own.userName &&
      action === own.action &&
      severity === own.severity
    )
  } catch {
    return false
  }
}
