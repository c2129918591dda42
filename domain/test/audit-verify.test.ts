import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  AUDIT_GENESIS,
  auditHash,
  auditLineText,
  CHECKPOINT_GENESIS,
  checkpointHash,
  checkpointKeyId,
  checkSignature,
  compareCheckpoints,
  parseCheckpoint,
  signCheckpoint,
  verifyTrail,
} from '@portcullis/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const { privateKey } = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519').privateKey
const keysOf = (...keys: KeyObject[]) =>
  new Map(keys.map((key) => [checkpointKeyId(createPublicKey(key)), createPublicKey(key)]))
const keys = keysOf(privateKey)

/** Records 1 to n. The user of each record has its number. */
const trailOf = (n: number, user: (id: number) => string = (id) => `u${id}`): { lines: string[]; hashes: Buffer[] } => {
  let hash = AUDIT_GENESIS
  const hashes: Buffer[] = []
  const lines = Array.from({ length: n }, (_, i) => {
    const [id, actor, action, severity] = [i + 1, user(i + 1), 'a.b', 5]
    const record = JSON.stringify({ creationTime: '2031-05-04T10:11:12.000', userName: actor, action, severity })
    hash = auditHash(hash, id, record)
    hashes.push(hash)
    const createdAt = '2031-05-04T10:11:12.000000'
    return auditLineText({ id, createdAt, actor, action, severity, record, hash: hash.toString('hex') })
  })
  return { lines, hashes }
}
const checkpointsAt = (hashes: readonly Buffer[], ids: readonly number[], key = privateKey): string[] => {
  let previous = CHECKPOINT_GENESIS
  return ids.map((id, i) => {
    const hash = hashes[id - 1]?.toString('hex') ?? ''
    const line = signCheckpoint(
      { number: i + 1, auditTrailID: id, hash, time: '2031-05-04T10:11:12.000Z', previous },
      key,
    )
    previous = checkpointHash(line)
    return line
  })
}
const bytes = (lines: readonly string[]) => [Buffer.from(lines.map((line) => `${line}\n`).join(''))]
const { lines, hashes } = trailOf(10)
const signed = checkpointsAt(hashes, [3, 6, 9])
const verify = (trail: readonly string[], checkpoints: readonly string[] = signed) =>
  verifyTrail(bytes(trail), { bytes: bytes(checkpoints), keys })

describe('an unchanged trail', () => {
  it('is proven up to the last checkpoint and chained to its end', async () => {
    expect(await verify(lines)).toEqual({
      ok: true,
      records: 10,
      checkpoints: 3,
      covered: { number: 3, auditTrailID: 9, time: '2031-05-04T10:11:12.000Z', keyId: [...keys.keys()][0] },
      uncovered: 1,
      coveredLate: null,
      brokenRecord: null,
      brokenCheckpoint: null,
    })
    expect(await verifyTrail(bytes(lines), null)).toMatchObject({ ok: true, covered: null, uncovered: 10 })
    expect(await verifyTrail([], null)).toMatchObject({ ok: true, records: 0 })
  })

  it('is read in pieces of any size', async () => {
    const [all] = bytes(lines) as [Buffer]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: all.length }), { maxLength: 30 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), all.length]
        const pieces = at.slice(1).map((to, i) => all.subarray(at[i], to))
        expect((await verifyTrail(pieces, { bytes: bytes(signed), keys })).ok).toBe(true)
      }),
    )
  })

  it('limits the memory for a line without an end', async () => {
    const piece = Buffer.alloc(1 << 16, 'x')
    function* endless() {
      for (let i = 0; i < 2_000; i++) yield piece
    }
    const before = process.memoryUsage().rss
    expect(await verifyTrail(endless(), null)).toMatchObject({
      ok: false,
      brokenRecord: { record: 1, fault: 'unreadable' },
    })
    expect(process.memoryUsage().rss - before).toBeLessThan(32 << 20)
  })
})

describe('a changed trail', () => {
  const cases: [string, (all: string[]) => string[], object][] = [
    [
      'edited',
      (all) => all.with(4, all[4]!.replaceAll('u5', 'uX')),
      { record: 5, since: 4, to: 5, fault: 'edited', line: 5 },
    ],
    ['hash', (all) => all.with(4, all[4]!.replace(/.{8}"\}$/, '00000000"}')), { record: 5, fault: 'hash' }],
    ['columns', (all) => all.with(4, all[4]!.replace('u5', 'uX')), { record: 5, since: 5, to: 5, fault: 'columns' }],
    ['missing', (all) => all.toSpliced(4, 2), { record: 5, to: 6, fault: 'missing', found: 7 }],
    ['inserted', (all) => all.toSpliced(4, 0, all[1]!), { record: 5, fault: 'inserted', found: 2 }],
    ['inserted', (all) => all.toSpliced(4, 0, 'x'), { record: 5, fault: 'inserted', found: null }],
    ['inserted', (all) => [...all, all[9]!], { record: 11, fault: 'inserted', found: 10 }],
    [
      'inserted',
      (all) => all.toSpliced(4, 0, all[4]!.replaceAll('u5', 'uX')),
      { record: 5, fault: 'inserted', found: 5 },
    ],
    ['edited', (all) => all.with(9, all[9]!.replaceAll('u10', 'uX')), { record: 10, fault: 'edited', found: 10 }],
    ['edited', (all) => all.with(4, all[4]!.replaceAll('u5', 'uX')).with(5, 'x'), { record: 5, fault: 'edited' }],
    [
      'hash',
      (all) => [...all.with(4, all[4]!.replace(/.{8}"\}$/, '00000000"}')), all[5]!.replaceAll('u6', 'uX')],
      { record: 5, fault: 'hash' },
    ],
    ['columns', (all) => all.toSpliced(4, 0, all[4]!.replace('u5', 'uX')), { record: 5, fault: 'columns' }],
    ['unreadable', (all) => all.with(4, 'x').with(6, 'y'), { record: 5, fault: 'unreadable', found: null }],
    [
      'unreadable',
      (all) => all.toSpliced(4, 1, 'x', all[4]!.replace('"id":5', '"id":50')),
      { record: 5, fault: 'unreadable' },
    ],
    [
      'unreadable',
      (all) => all.toSpliced(4, 1, 'x', all[4]!.replaceAll('u5', 'uX')),
      { record: 5, fault: 'unreadable' },
    ],
    ['reordered', (all) => all.with(4, all[7]!).with(7, all[4]!), { record: 5, fault: 'reordered', found: 8 }],
    ['renumbered', (all) => all.with(4, all[4]!.replace('"id":5', '"id":50')), { record: 5, fault: 'renumbered' }],
    ['unreadable', (all) => all.with(4, '{}'), { record: 5, fault: 'unreadable', found: null }],
    ['cut-off', (all) => all.slice(0, 4), { record: 5, since: 4, to: 9, fault: 'cut-off', line: 5, checkpoint: 2 }],
    ['cut-off', (all) => all.slice(0, 8), { record: 9, since: 7, to: 9, fault: 'cut-off', line: 9, checkpoint: 3 }],
    ['cut-off', () => [], { record: 1, to: 9, fault: 'cut-off', checkpoint: 1 }],
    [
      'rewritten',
      () => trailOf(10, (id) => (id === 5 ? 'uX' : `u${id}`)).lines,
      { record: 4, to: 6, fault: 'rewritten', checkpoint: 2 },
    ],
  ]
  it.each(cases)('reports the first record that is %s', async (_, change, expected) => {
    const verdict = await verify(change(lines))
    expect(verdict).toMatchObject({ ok: false, brokenRecord: expected, brokenCheckpoint: null })
    expect(verdict.records).toBe((verdict.brokenRecord?.record ?? 0) - 1)
    const pieces = change(lines).map((line) => Buffer.from(`${line}\n`))
    expect(await verifyTrail(pieces, { bytes: bytes(signed), keys })).toEqual(verdict)
  })

  it('also reports a changed checkpoint', async () => {
    expect(await verify(lines.with(4, 'x'), signed.with(2, 'x'))).toMatchObject({
      brokenRecord: { record: 5 },
      brokenCheckpoint: { checkpoint: 3 },
    })
  })

  it('reports records that were covered late without failing', async () => {
    const at = (times: readonly string[]): string[] => {
      let previous = CHECKPOINT_GENESIS
      return times.map((time, i) => {
        const id = 3 * (i + 1)
        const hash = hashes[id - 1]?.toString('hex') ?? ''
        const line = signCheckpoint({ number: i + 1, auditTrailID: id, hash, time, previous }, privateKey)
        previous = checkpointHash(line)
        return line
      })
    }
    const [soon, late] = ['2031-05-04T10:21:12.000Z', '2031-05-04T10:21:12.001Z']
    expect(await verify(lines, at([soon, late, soon]))).toMatchObject({
      ok: true,
      coveredLate: { records: 3, first: 4, last: 6 },
    })
    expect(await verify(lines, at([soon, soon, soon]))).toMatchObject({ coveredLate: null })
    expect(await verify(lines, at([late, soon, late]))).toMatchObject({
      coveredLate: { records: 6, first: 1, last: 9 },
    })
  })

  it('does not detect changes after the last checkpoint', async () => {
    expect(await verify(lines.slice(0, 9))).toMatchObject({ ok: true, uncovered: 0 })
    expect((await verify(trailOf(10, (id) => (id === 10 ? 'uX' : `u${id}`)).lines)).ok).toBe(true)
  })
})

describe('changed checkpoints', () => {
  const cases: [string, (all: string[]) => string[], object][] = [
    [
      'edited',
      (all) => all.with(1, all[1]!.replace('10:11:12', '10:11:13')),
      { checkpoint: 2, line: 2, fault: 'edited' },
    ],
    ['unreadable', (all) => all.with(1, `${all[1]} `), { checkpoint: 2, fault: 'unreadable' }],
    ['forged', (all) => all.with(1, checkpointsAt(hashes, [3, 6], other)[1]!), { checkpoint: 2, fault: 'forged' }],
    ['missing', (all) => all.toSpliced(0, 1), { checkpoint: 1, line: 1, fault: 'missing' }],
    ['missing', (all) => all.with(1, all[2]!).with(2, all[1]!), { checkpoint: 2, fault: 'missing' }],
    ['repeated', (all) => all.toSpliced(1, 0, all[0]!), { checkpoint: 2, fault: 'repeated' }],
    // A genuine checkpoint of another trail with the same key.
    [
      'missing',
      (all) => all.with(1, checkpointsAt(trailOf(10, () => 'x').hashes, [3, 6])[1]!),
      { checkpoint: 2, fault: 'missing' },
    ],
    // Only its number is wrong.
    [
      'missing',
      ([first = '']) => [first, signCheckpoint({ ...parseCheckpoint(signed[1]!)!, number: 3 }, privateKey)],
      { checkpoint: 2, fault: 'missing' },
    ],
  ]
  it.each(cases)('are reported as %s', async (_, change, expected) => {
    expect(await verify(lines, change(signed))).toMatchObject({ ok: false, brokenCheckpoint: expected })
  })

  it.each<[string, string]>([
    ['unreadable', 'x'],
    ['edited', signed[2]!.replace('10:11:12', '10:11:13')],
    ['forged', checkpointsAt(hashes, [3, 6, 9], other)[2]!],
    ['repeated', signed[1]!],
  ])('prove nothing when they are %s, and do not affect the trail', async (fault, last) => {
    expect(await verify(lines, signed.with(2, last))).toMatchObject({
      ...{ ok: false, checkpoints: 2, uncovered: 4, brokenRecord: null },
      ...{ covered: { number: 2 }, brokenCheckpoint: { fault } },
    })
  })

  it('do not invalidate later checkpoints', async () => {
    expect(await verify(lines, signed.with(1, 'x'))).toMatchObject({
      ok: false,
      checkpoints: 2,
      covered: { number: 3 },
    })
  })

  it('are compared with another copy', async () => {
    const compare = (a: string[], b: string[]) => compareCheckpoints(bytes(a), bytes(b))
    expect(await compare(signed, signed)).toEqual({ differs: null, counts: [3, 3] })
    expect(await compare(signed, signed.slice(0, 1))).toEqual({ differs: null, counts: [3, 1] })
    expect(await compare(signed.slice(0, 1), signed)).toEqual({ differs: null, counts: [1, 3] })
    expect(await compare(signed, signed.with(1, 'x'))).toMatchObject({ differs: { checkpoint: 2, fault: 'disagrees' } })
  })

  it('require a signature over the exact text', () => {
    const checkpoint = parseCheckpoint(signed[0]!)!
    expect(checkSignature(checkpoint, keys)).toBe('good')
    expect(checkSignature({ ...checkpoint, auditTrailID: 4 }, keys)).toBe('edited')
    expect(checkSignature(checkpoint, keysOf(other))).toBe('forged')
    // The last Base64 digit has unused bits, so another text encodes the same bytes.
    const same = signed[0]!.replace(
      /(.)=="/,
      (_, digit: string) => `${String.fromCharCode(digit.charCodeAt(0) + 1)}=="`,
    )
    expect(parseCheckpoint(same)).toBeNull()
  })
})
