import { createHash } from 'node:crypto'
import { AUDIT_GENESIS, type AuditLink, auditHash, verifyAuditChain } from '@portcullis/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const chain = (records: string[], gap = 1): Required<AuditLink>[] => {
  let prevHash: Buffer = AUDIT_GENESIS
  return records.map((record, index) => {
    const id = BigInt(index * gap + 1)
    const hash = auditHash(prevHash, id, record)
    const link = { id, record, hash, prevHash }
    prevHash = hash
    return link
  })
}

const records = fc.array(fc.string({ maxLength: 40 }), { minLength: 2, maxLength: 20 })

describe('auditHash', () => {
  it('is SHA-256 over the previous hash, the id, a line feed and the record', () => {
    const expected = createHash('sha256').update(Buffer.alloc(32)).update('7\n{"a":"ü"}').digest()
    expect(auditHash(AUDIT_GENESIS, 7, '{"a":"ü"}')).toEqual(expected)
    expect(auditHash(AUDIT_GENESIS, 7n, '{"a":"ü"}')).toEqual(expected)
  })
})

describe('verifyAuditChain', () => {
  it('accepts a whole chain, with gaps in its ids, and a continuation', () => {
    const links = chain(['a', 'b', 'c'], 5)
    expect(verifyAuditChain(links)).toEqual({ ok: true, count: 3, lastId: '11', lastHash: links[2]?.hash })
    expect(verifyAuditChain(links.slice(1), links[0]?.hash)).toMatchObject({ ok: true, count: 2 })
    expect(verifyAuditChain([])).toEqual({ ok: true, count: 0, lastId: null, lastHash: AUDIT_GENESIS })
  })

  it.each([true, false])(
    'finds every edit, deletion, move, insertion and renumbering (previous hashes stored: %s)',
    (stored) => {
      fc.assert(
        fc.property(
          records,
          fc.nat(),
          fc.nat(),
          fc.constantFrom('edit', 'delete', 'swap', 'insert', 'renumber', 'hash'),
          (texts, a, b, how) => {
            const links: AuditLink[] = chain(texts).map((l) =>
              stored ? l : { id: l.id, record: l.record, hash: l.hash },
            )
            const at = a % links.length
            const link = links[at]!
            if (how === 'edit') links[at] = { ...link, record: `${link.record}x` }
            else if (how === 'delete') {
              // Cutting the end off is what checkpoints are for.
              const inside = a % (links.length - 1)
              links.splice(inside, 1)
            } else if (how === 'swap') {
              const other = (at + 1 + (b % (links.length - 1))) % links.length
              links[at] = links[other]!
              links[other] = link
            } else if (how === 'insert') links.splice(at, 0, { ...link })
            else if (how === 'renumber') links[at] = { ...link, id: BigInt(link.id) + 1000n }
            else links[at] = { ...link, hash: Buffer.alloc(32, 1) }
            expect(verifyAuditChain(links).ok).toBe(false)
          },
        ),
        { numRuns: 1000 },
      )
    },
  )

  it('names the first broken record and the reason', () => {
    const edited = chain(['a', 'b', 'c'])
    edited[1]!.record = 'B'
    expect(verifyAuditChain(edited)).toEqual({ ok: false, count: 1, brokenId: '2', reason: 'hash' })
    const deleted = chain(['a', 'b', 'c']).filter((l) => l.id !== 2n)
    expect(verifyAuditChain(deleted)).toEqual({ ok: false, count: 1, brokenId: '3', reason: 'previous' })
    const turned = chain(['a', 'b', 'c']).reverse()
    expect(verifyAuditChain(turned)).toMatchObject({ ok: false, brokenId: '3' })
    const [first, second] = chain(['a', 'b']) as [AuditLink, AuditLink]
    expect(verifyAuditChain([first, second, first])).toEqual({ ok: false, count: 2, brokenId: '1', reason: 'order' })
  })
})
