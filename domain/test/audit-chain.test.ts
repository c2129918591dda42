import { createHash } from 'node:crypto'
import {
  AUDIT_GENESIS,
  type AuditLine,
  auditHash,
  auditLineText,
  columnsAgree,
  parseAuditLine,
} from '@portcullis/domain'
import { describe, expect, it } from 'vitest'

const record = JSON.stringify({
  creationTime: '2031-05-04T10:11:12.345',
  userName: 'ä\u2028"',
  action: 'tag.created',
  severity: 5,
})
const line: AuditLine = {
  id: 7,
  createdAt: '2031-05-04T10:11:12.345000',
  actor: 'ä\u2028"',
  action: 'tag.created',
  severity: 5,
  record,
  hash: auditHash(AUDIT_GENESIS, 7, record).toString('hex'),
}

describe('auditHash', () => {
  it('is SHA-256 over the previous hash, the id, a line feed and the record', () => {
    const expected = createHash('sha256').update(Buffer.alloc(32)).update('7\n{"a":"ü"}').digest()
    expect(auditHash(AUDIT_GENESIS, 7, '{"a":"ü"}')).toEqual(expected)
  })
})

describe('a line of the audit trail', () => {
  it('has a single canonical form', () => {
    const text = auditLineText(line)
    expect(parseAuditLine(text)).toEqual(line)
    for (const other of [
      ` ${text}`,
      text.replace('"id":7', '"id":7.0'),
      text.replace('"id":7', '"id": 7'),
      text.replace('tag', '\\u0074ag'),
      text.replace('"severity"', '"x":1,"severity"'),
      text.replace(line.hash, line.hash.toUpperCase()),
      text.slice(0, -1),
      'null',
      '7',
      '',
    ])
      expect(parseAuditLine(other), other).toBeNull()
  })

  it('rejects lone surrogates', () => {
    expect(auditHash(AUDIT_GENESIS, 1, '\ud800')).toEqual(auditHash(AUDIT_GENESIS, 1, '\ufffd'))
    expect(parseAuditLine(auditLineText({ ...line, record: '\ud800' }))).toBeNull()
  })

  it('has columns that match the record', () => {
    expect(columnsAgree(line)).toBe(true)
    for (const other of [
      { actor: 'b' },
      { action: 'b' },
      { severity: 7 },
      { createdAt: '2031-05-04T10:11:12.345001' },
      { record: 'no JSON' },
    ])
      expect(columnsAgree({ ...line, ...other }), JSON.stringify(other)).toBe(false)
  })
})
