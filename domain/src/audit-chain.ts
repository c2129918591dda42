import { createHash } from 'node:crypto'

/** Hash before the first record of a chain: 32 zero bytes. */
export const AUDIT_GENESIS: Buffer = Buffer.alloc(32)

/** Hash of an audit record: SHA-256 over the previous hash and `<id>\n<record>` in UTF-8. */
export const auditHash = (prevHash: Uint8Array, id: number, record: string): Buffer =>
  createHash('sha256').update(prevHash).update(`${id}\n${record}`, 'utf8').digest()

/** A record of the trail as it is exported, one line of JSON each. Members stand in this order. */
export interface AuditLine {
  id: number
  /** Columns that lists filter and sort by. They are copies of what the record says, and are held against it. */
  createdAt: string
  actor: string
  action: string
  severity: number
  /** The text that was hashed. */
  record: string
  /** Hexadecimal. */
  hash: string
}

/** A line longer than this is none of the trail; a record has some 9,000 characters, each of up to 7 bytes here. */
export const maxAuditLine = 1 << 20

const hex = /^[0-9a-f]{64}$/

/** The one form of a line: whoever changes a byte of it, be it a space, has another text. */
export const auditLineText = ({ id, createdAt, actor, action, severity, record, hash }: AuditLine): string =>
  JSON.stringify({ id, createdAt, actor, action, severity, record, hash })

/** A line that has the one form; null when it has not. */
export const parseAuditLine = (text: string): AuditLine | null => {
  try {
    const line = JSON.parse(text) as AuditLine
    return typeof line === 'object' &&
      line !== null &&
      Number.isSafeInteger(line.id) &&
      line.id > 0 &&
      typeof line.record === 'string' &&
      // Half a character would be hashed as another one.
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

/** Whether the columns say what the record says. Times of columns have six digits of a second, those of records three. */
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
