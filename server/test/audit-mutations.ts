/**
 * Changes a trail and its checkpoints in every possible way and runs a verifier on each result. The verifier must
 * detect each change and name the first changed record. Does not depend on a server.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  AUDIT_GENESIS,
  type AuditLine,
  auditHash,
  auditLineText,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  checkpointKeyId,
  parseAuditLine,
  parseCheckpoint,
  signCheckpoint,
  type TrailVerdict,
  verifyTrail,
} from '@portcullis/domain'

export interface AuditFiles {
  /** A complete exported trail. Its last records need not be covered. */
  trail: Buffer
  checkpoints: Buffer
  /** Public keys of the signers. */
  keys: readonly KeyObject[]
}

/** Expected result: an exact record, a record within the named range, or a checkpoint. */
type Expected = { record: number } | { within: number } | { checkpoint: number }

interface Mutation {
  what: string
  trail: Buffer
  checkpoints: Buffer
  expected: Expected
}

export interface MutationReport {
  tried: number
  detected: number
  /** Number of detected changes whose first changed record was named correctly. */
  named: number
  byKind: Record<string, number>
  /** Changes that were missed or named wrongly, one sentence each. */
  failures: string[]
}

type Random = (below: number) => number

/** Returns random numbers that repeat for a seed (mulberry32). */
const randomOf = (seed: number): Random => {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const linesIn = (bytes: Buffer): string[] => bytes.toString('utf8').split('\n').slice(0, -1)
const bytesOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''))
const numberOfLineAt = (bytes: Buffer, at: number): number =>
  bytes.subarray(0, at).toString('latin1').split('\n').length

/** Rebuilds the numbers and hashes of records from `from` on, as an attacker with the database can. */
const rebuilt = (records: readonly AuditLine[], from: number): string[] => {
  let hash = from === 0 ? AUDIT_GENESIS : Buffer.from(records[from - 1]?.hash ?? '', 'hex')
  return records.map((one, i) => {
    if (i < from) return auditLineText(one)
    hash = auditHash(hash, i + 1, one.record)
    return auditLineText({ ...one, id: i + 1, hash: hash.toString('hex') })
  })
}

/** Returns the record with another actor, in the record and its columns. */
const withOtherActor = (line: AuditLine, word: string): AuditLine => ({
  ...line,
  actor: `${word}${line.actor}`,
  record: JSON.stringify({ ...JSON.parse(line.record), userName: `${word}${line.actor}` }),
})

const mutationsOf = ({ trail, checkpoints }: AuditFiles, random: Random) => {
  const lines = linesIn(trail)
  const records = lines.map((line) => parseAuditLine(line) as AuditLine)
  const signed = linesIn(checkpoints)
  const ids = signed.map((line) => parseCheckpoint(line)?.auditTrailID ?? 0)
  const n = lines.length
  const covered = ids.at(-1) ?? 0
  const attacker = generateKeyPairSync('ed25519').privateKey

  const forRecord = (changed: readonly string[], record: number, what: string): Mutation => ({
    what: `${what} ${record}`,
    trail: bytesOf(changed),
    checkpoints,
    expected: { record },
  })
  const forRange = (changed: readonly string[], within: number, what: string): Mutation => ({
    what: `${what} ${within}`,
    trail: bytesOf(changed),
    checkpoints,
    expected: { within },
  })
  const forCheckpoint = (changed: readonly string[], checkpoint: number, what: string): Mutation => ({
    what: `${what} ${checkpoint}`,
    trail,
    checkpoints: bytesOf(changed),
    expected: { checkpoint },
  })
  const edit = (id: number, change: (line: AuditLine) => AuditLine): string[] =>
    lines.with(id - 1, auditLineText(change(records[id - 1] as AuditLine)))
  const any = (): number => 1 + random(n)
  const otherByte = (bytes: Buffer): { changed: Buffer; line: number } => {
    const at = random(bytes.length)
    const changed = Buffer.from(bytes)
    changed[at] = ((bytes[at] as number) + 1 + random(255)) % 256
    return { changed, line: numberOfLineAt(bytes, at) }
  }
  /** Signs all checkpoints from this one on with the attacker's key. */
  const resigned = (trailLines: readonly string[], from: number): string[] => {
    let previous = from === 0 ? CHECKPOINT_GENESIS : checkpointHash(signed[from - 1] ?? '')
    return signed.map((line, i) => {
      const checkpoint = parseCheckpoint(line)
      if (i < from || checkpoint === null) return line
      const { number, auditTrailID, time } = checkpoint
      const hash = parseAuditLine(trailLines[auditTrailID - 1] ?? '')?.hash ?? ''
      const made = signCheckpoint({ number, auditTrailID, hash, time, previous }, attacker)
      previous = checkpointHash(made)
      return made
    })
  }

  const kinds: Readonly<Record<string, () => Mutation>> = {
    'byte of the trail': () => {
      const { changed, line } = otherByte(trail)
      return { what: `byte of record ${line}`, trail: changed, checkpoints, expected: { record: line } }
    },
    'bit of the trail': () => {
      const at = random(trail.length)
      const changed = Buffer.from(trail)
      changed[at] = (trail[at] as number) ^ (1 << random(8))
      const record = numberOfLineAt(trail, at)
      return { what: `bit of record ${record}`, trail: changed, checkpoints, expected: { record } }
    },
    'text of a record': () => {
      const id = any()
      return forRecord(
        edit(id, (line) => withOtherActor(line, 'x')),
        id,
        'text of',
      )
    },
    'hash of a record': () => {
      const id = any()
      return forRecord(
        edit(id, (line) => ({ ...line, hash: auditHash(AUDIT_GENESIS, 1, line.hash).toString('hex') })),
        id,
        'hash of',
      )
    },
    'number of a record': () => {
      const id = any()
      const other = (id + 1 + random(n * 2 - 1)) % (n * 2)
      return forRecord(
        edit(id, (line) => ({ ...line, id: other + 1 === id ? id + 1 : other + 1 })),
        id,
        'number of',
      )
    },
    'column of a record': () => {
      const id = any()
      const changes: ((line: AuditLine) => AuditLine)[] = [
        (line) => ({ ...line, actor: 'x' }),
        (line) => ({ ...line, action: `${line.action}.` }),
        (line) => ({ ...line, severity: (line.severity + 1) % 8 }),
        (line) => ({ ...line, createdAt: line.createdAt.replace(/.$/, '7') }),
      ]
      return forRecord(edit(id, changes[random(changes.length)] as (line: AuditLine) => AuditLine), id, 'column of')
    },
    deletion: () => {
      const id = 1 + random(n - 1)
      return forRecord(lines.toSpliced(id - 1, 1 + random(Math.min(5, n - id))), id, 'deletion of')
    },
    swap: () => {
      const id = 1 + random(n - 1)
      const other = id + 1 + random(n - id)
      return forRecord(
        lines.with(id - 1, lines[other - 1] as string).with(other - 1, lines[id - 1] as string),
        id,
        'swap of',
      )
    },
    move: () => {
      const id = 1 + random(n - 1)
      const to = id + 1 + random(n - id)
      return forRecord(lines.toSpliced(id - 1, 1).toSpliced(to - 1, 0, lines[id - 1] as string), id, 'move of')
    },
    duplicate: () => {
      const id = any()
      const at = random(n + 1)
      return forRecord(lines.toSpliced(at, 0, lines[id - 1] as string), at + 1 === id ? id + 1 : at + 1, 'duplicate at')
    },
    insertion: () => {
      const at = random(n)
      const made = { ...withOtherActor(records[at] as AuditLine, 'i'), hash: records[random(n)]?.hash ?? '' }
      return forRecord(lines.toSpliced(at, 0, auditLineText(made)), at + 1, 'insertion at')
    },
    'insertion that follows from its predecessor': () => {
      const at = random(n)
      const made = rebuilt(records.with(at, withOtherActor(records[at] as AuditLine, 'i')), at)[at] as string
      return forRange(lines.toSpliced(at, 0, made), at + 1, 'matching insertion at')
    },
    'record with a rebuilt hash': () => {
      // No later record reveals a change of the last one, unless a checkpoint covers it.
      const id = 1 + random(covered < n ? n - 1 : n)
      const made = rebuilt(records.with(id - 1, withOtherActor(records[id - 1] as AuditLine, 'h')), id - 1)[
        id - 1
      ] as string
      return forRange(lines.with(id - 1, made), id, 'rebuilt hash of')
    },
    'rebuilt trail': () => {
      const id = 1 + random(covered)
      return forRange(
        rebuilt(records.with(id - 1, withOtherActor(records[id - 1] as AuditLine, 'r')), id - 1),
        id,
        'rebuilt from',
      )
    },
    'rebuilt trail without a record': () => {
      const id = 1 + random(covered)
      return forRange(rebuilt(records.toSpliced(id - 1, 1), id - 1), id, 'rebuilt without')
    },
    'truncated end': () => {
      const kept = random(covered)
      return forRecord(lines.slice(0, kept), kept + 1, 'truncated from')
    },
    'truncated within a line': () => {
      const at = 1 + random(trail.length - 1)
      const record = numberOfLineAt(trail, at)
      const kept = trail.subarray(0, trail[at - 1] === 10 ? at + 1 : at)
      return { what: `truncated within ${record}`, trail: kept, checkpoints, expected: { record } }
    },
    'byte of the checkpoints': () => {
      const { changed, line } = otherByte(checkpoints)
      return { what: `byte of checkpoint ${line}`, trail, checkpoints: changed, expected: { checkpoint: line } }
    },
    'checkpoint deleted': () => {
      const number = 1 + random(signed.length - 1)
      return forCheckpoint(signed.toSpliced(number - 1, 1), number, 'deletion of checkpoint')
    },
    'checkpoints swapped': () => {
      const number = 1 + random(signed.length - 1)
      const other = number + 1 + random(signed.length - number)
      const changed = signed.with(number - 1, signed[other - 1] as string).with(other - 1, signed[number - 1] as string)
      return forCheckpoint(changed, number, 'swap of checkpoint')
    },
    'checkpoint repeated': () => {
      const number = 1 + random(signed.length)
      const at = number + random(signed.length - number + 1)
      return forCheckpoint(signed.toSpliced(at, 0, signed[number - 1] as string), at + 1, 'repeated checkpoint at')
    },
    'checkpoint by another key': () => {
      const number = 1 + random(signed.length)
      const made = resigned(lines, number - 1)[number - 1] as string
      return forCheckpoint(signed.with(number - 1, made), number, 'forged checkpoint')
    },
    'checkpoint by another key under the name of the correct key': () => {
      const number = 1 + random(signed.length)
      const own = checkpointKeyId(createPublicKey(attacker))
      const right = parseCheckpoint(signed[number - 1] as string)?.keyId ?? ''
      const made = (resigned(lines, number - 1)[number - 1] as string).replace(own, right)
      return forCheckpoint(signed.with(number - 1, made), number, 'checkpoint under a false name')
    },
    'trail and checkpoints rebuilt with another key': () => {
      const id = 1 + random(covered)
      const changed = rebuilt(records.with(id - 1, withOtherActor(records[id - 1] as AuditLine, 'f')), id - 1)
      const from = ids.findIndex((last) => last >= id)
      return {
        what: `all rebuilt from ${id}`,
        trail: bytesOf(changed),
        checkpoints: bytesOf(resigned(changed, from)),
        expected: { checkpoint: from + 1 },
      }
    },
  }
  return kinds
}

const isNamed = (verdict: TrailVerdict, expected: Expected): boolean => {
  const { brokenRecord, brokenCheckpoint } = verdict
  if ('checkpoint' in expected) return brokenCheckpoint?.checkpoint === expected.checkpoint
  if (brokenRecord === null) return false
  return 'record' in expected
    ? brokenRecord.record === expected.record
    : // The break shows one record later, where the first unchanged record does not follow.
      brokenRecord.since <= expected.within && expected.within <= brokenRecord.to
}

/** Tries the given number of changes, cycling through all kinds. */
export const tryMutations = async (
  files: AuditFiles,
  {
    count = 1_000,
    seed = 1,
    verify = verifyTrail,
  }: { count?: number; seed?: number; verify?: typeof verifyTrail } = {},
): Promise<MutationReport> => {
  const keys: CheckpointKeys = new Map(files.keys.map((key) => [checkpointKeyId(key), key]))
  const whole = await verify([files.trail], { bytes: [files.checkpoints], keys })
  const report: MutationReport = { tried: 0, detected: 0, named: 0, byKind: {}, failures: [] }
  if (!whole.ok || whole.checkpoints < 3) {
    report.failures.push(
      `the original trail is not intact, or has fewer than three checkpoints: ${JSON.stringify(whole)}`,
    )
    return report
  }
  const kinds = Object.entries(mutationsOf(files, randomOf(seed)))
  for (let i = 0; i < count; i++) {
    const [kind, make] = kinds[i % kinds.length] as (typeof kinds)[number]
    const { what, trail, checkpoints, expected } = make()
    if (trail.equals(files.trail) && checkpoints.equals(files.checkpoints)) throw new Error(`${what} changed nothing`)
    const verdict = await verify([trail], { bytes: [checkpoints], keys })
    report.tried++
    report.byKind[kind] = (report.byKind[kind] ?? 0) + 1
    if (!verdict.ok) report.detected++
    if (!verdict.ok && isNamed(verdict, expected)) report.named++
    else
      report.failures.push(
        `${kind}: ${what}: ${verdict.ok ? 'not found' : `named ${JSON.stringify(verdict.brokenRecord ?? verdict.brokenCheckpoint)}`}`,
      )
  }
  return report
}
