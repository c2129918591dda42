import { AUDIT_GENESIS, type AuditLine, auditHash, columnsAgree, maxAuditLine, parseAuditLine } from './audit-chain.ts'
import {
  type AuditCheckpoint,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  checkSignature,
  maxCheckpointLine,
  parseCheckpoint,
} from './audit-checkpoint.ts'
import { linesOf } from './audit-lines.ts'

/** Problems of the first record that was changed. */
export type RecordFault =
  /** The text, or the complete record, was changed. */
  | 'edited'
  /** Only the hash was changed. */
  | 'hash'
  /** Only the indexed columns were changed. */
  | 'columns'
  /** The record is missing. The next one has a higher number. */
  | 'missing'
  /** Another record was inserted before it. */
  | 'inserted'
  /** The record is after one that was written later. */
  | 'reordered'
  /** The number was changed. */
  | 'renumbered'
  /** The line in its position is not a record. */
  | 'unreadable'
  /** The trail ends before the record, although a checkpoint covers it. */
  | 'cut-off'
  /** The chain is valid but contradicts a checkpoint: records were changed and all hashes recalculated. */
  | 'rewritten'

/** Problems of the first checkpoint that was changed. */
export type CheckpointFault =
  | 'unreadable'
  /** The checkpoint names this key, but the key did not sign it. */
  | 'edited'
  /** The checkpoint names an unknown key. */
  | 'forged'
  | 'missing'
  /** An earlier checkpoint is in its position. */
  | 'repeated'
  /** The checkpoint differs between two copies. */
  | 'disagrees'

export interface BrokenRecord {
  /** The first record that breaks the chain or contradicts a checkpoint. */
  record: number
  /**
   * The first record after the last good checkpoint. If an attacker recalculates the hashes after a change, the break
   * appears only at the end of the recalculated part. The change is between this record and `to`.
   */
  since: number
  /** Last record that may be affected, or last missing record. */
  to: number
  fault: RecordFault
  /** Line of the trail, starting at 1. */
  line: number
  /** Number that the line contains. */
  found: number | null
  /** Number of the contradicting checkpoint. */
  checkpoint: number | null
}

export interface BrokenCheckpoint {
  checkpoint: number
  fault: CheckpointFault
  /** Line of the checkpoint file, starting at 1. */
  line: number
}

export interface TrailVerdict {
  ok: boolean
  /** Number of records with a valid chain, from the first on. */
  records: number
  /** Number of genuine checkpoints that match the trail. */
  checkpoints: number
  /** Newest of these checkpoints. */
  covered: Pick<AuditCheckpoint, 'number' | 'auditTrailID' | 'time' | 'keyId'> | null
  /** Number of chained records that no checkpoint covers. An attacker could replace them as a whole. */
  uncovered: number
  /** Number of records whose checkpoint was created more than ten minutes after them and proves them only from then on. */
  coveredLate: { records: number; first: number; last: number } | null
  brokenRecord: BrokenRecord | null
  brokenCheckpoint: BrokenCheckpoint | null
}

/** A checkpoint later than this is late. Normally the server creates one within a minute. */
const lateMs = 10 * 60_000

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function* single<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const group of groups) yield* group
}

/** Reads the genuine checkpoints in order. It records the first invalid one and continues after it. */
const readCheckpoints = (bytes: Bytes, keys: CheckpointKeys) => {
  let broken: BrokenCheckpoint | null = null
  async function* genuine(): AsyncGenerator<AuditCheckpoint> {
    let line = 0
    let due = 1
    let covered = 0
    let previous = CHECKPOINT_GENESIS
    for await (const { text } of single(linesOf(bytes, maxCheckpointLine))) {
      line++
      const note = (fault: CheckpointFault): void => {
        broken ??= { checkpoint: due, fault, line }
      }
      // Stryker disable next-line ConditionalExpression: null is not a checkpoint.
      const found = text === null ? null : parseCheckpoint(text)
      const signature = found === null ? null : checkSignature(found, keys)
      if (found === null) note('unreadable')
      else if (signature !== 'good') note(signature === 'forged' ? 'forged' : 'edited')
      else if (found.number < due) note('repeated')
      else if (found.number !== due || found.previous !== previous) note('missing')
      // Stryker disable next-line ConditionalExpression: Only a checkpoint that was found has a good signature.
      if (found !== null && signature === 'good' && found.auditTrailID > covered) {
        covered = found.auditTrailID
        yield found
      }
      due++
      // Stryker disable next-line StringLiteral: A line without text is already the first fault.
      previous = checkpointHash(text ?? '')
    }
  }
  return { genuine: genuine(), broken: () => broken }
}

interface Break {
  record: number
  since: number
  previous: Uint8Array
  line: number
  found: AuditLine | null
}

/** Determines the kind of a break by the lines after it. */
const createDiagnosis = ({ record, since, previous, line, found }: Break) => {
  let isLater = false
  let isHashOnly = false
  let isNext = true
  return {
    see: (later: AuditLine | null): void => {
      if (later?.id === record && later.hash === auditHash(previous, record, later.record).toString('hex'))
        isLater = true
      if (isNext && found?.id === record && later?.id === record + 1)
        isHashOnly =
          later.hash === auditHash(auditHash(previous, record, found.record), later.id, later.record).toString('hex')
      isNext = false
    },
    end: (): BrokenRecord => {
      const isOwn = found !== null && found.hash === auditHash(previous, record, found.record).toString('hex')
      const fault = ((): RecordFault => {
        if (found === null) return isLater ? 'inserted' : 'unreadable'
        if (isLater) return found.id > record ? 'reordered' : 'inserted'
        if (found.id === record) return isHashOnly ? 'hash' : 'edited'
        if (isOwn) return 'renumbered'
        // Stryker disable next-line EqualityOperator: The case that both are equal has returned before.
        return found.id > record ? 'missing' : 'inserted'
      })()
      // Stryker disable next-line ConditionalExpression: A fault is only called missing if a record was found.
      const to = fault === 'missing' && found !== null ? found.id - 1 : record
      return { record, since, to, fault, line, found: found?.id ?? null, checkpoint: null }
    },
  }
}

/** Follows the genuine checkpoints beside the records that they cover. */
const createCoverage = (genuine: AsyncGenerator<AuditCheckpoint> | undefined) => {
  let due: AuditCheckpoint | null = null
  let covered: AuditCheckpoint | null = null
  let agreed = 0
  const coveredLate = { records: 0, first: 0, last: 0 }
  /** Numbers of the records after the last good checkpoint. */
  let late: number[] = []
  const next = async (): Promise<AuditCheckpoint | null> => (await genuine?.next())?.value ?? null

  return {
    /** Reads the first checkpoint. */
    begin: async (): Promise<void> => {
      due = await next()
    },
    /** The next checkpoint. */
    due: (): AuditCheckpoint | null => due,
    covered: (): AuditCheckpoint | null => covered,
    /** Returns the first record after the last good checkpoint. */
    since: (): number => (covered?.auditTrailID ?? 0) + 1,
    /** Returns the next checkpoint if it covers the records up to this one. */
    dueAt: (record: number): AuditCheckpoint | null => (due?.auditTrailID === record ? due : null),
    /** Adds a record with a valid chain. */
    add: (record: number, createdAt: string): void => {
      if (due !== null && Date.parse(due.time) - Date.parse(`${createdAt}Z`) > lateMs) late.push(record)
    },
    /** Accepts the next checkpoint, which matches the records so far. */
    agree: async (): Promise<void> => {
      covered = due
      agreed++
      coveredLate.records += late.length
      coveredLate.first ||= late[0] ?? 0
      coveredLate.last = late.at(-1) ?? coveredLate.last
      late = []
      due = await next()
    },
    /** Reads the remaining checkpoints. Returns the last record that they cover; 0: there are none. */
    end: async (): Promise<number> => {
      let last = due?.auditTrailID ?? 0
      for (let more = await next(); more !== null; more = await next()) last = more.auditTrailID
      return last
    },
    result: (): Pick<TrailVerdict, 'checkpoints' | 'covered' | 'coveredLate'> => ({
      checkpoints: agreed,
      covered:
        covered === null
          ? null
          : {
              number: covered.number,
              auditTrailID: covered.auditTrailID,
              time: covered.time,
              keyId: covered.keyId,
            },
      coveredLate: coveredLate.records === 0 ? null : coveredLate,
    }),
  }
}

/**
 * Verifies a trail and its checkpoints in parallel, with one line of each in memory. Reports the first record that is not
 * proven and reads on only to determine what happened there.
 * @param checkpoints null: no checkpoints to compare with, so a rewritten or truncated trail would pass
 */
export const verifyTrail = async (
  trail: Bytes,
  checkpoints: { bytes: Bytes; keys: CheckpointKeys } | null,
): Promise<TrailVerdict> => {
  const signed = checkpoints === null ? null : readCheckpoints(checkpoints.bytes, checkpoints.keys)
  const coverage = createCoverage(signed?.genuine)
  await coverage.begin()
  let count = 0
  let line = 0
  let hash: Uint8Array = AUDIT_GENESIS
  let broken: BrokenRecord | null = null
  let diagnosis: ReturnType<typeof createDiagnosis> | null = null
  for await (const lines of linesOf(trail, maxAuditLine)) {
    for (const { text } of lines) {
      if (broken !== null) break
      line++
      // Stryker disable next-line ConditionalExpression: null is not a record.
      const found = text === null ? null : parseAuditLine(text)
      if (diagnosis !== null) {
        diagnosis.see(found)
        continue
      }
      const record = count + 1
      const since = coverage.since()
      const due = coverage.dueAt(record)
      const own = found?.id === record ? auditHash(hash, record, found.record) : null
      // Stryker disable next-line ConditionalExpression: Without a record its hash does not exist either.
      if (found === null || own === null || own.toString('hex') !== found.hash)
        diagnosis = createDiagnosis({ record, since, previous: hash, line, found })
      else if (!columnsAgree(found))
        broken = { record, since: record, to: record, fault: 'columns', line, found: record, checkpoint: null }
      else if (due !== null && due.hash !== found.hash)
        broken = { record: since, since, to: record, fault: 'rewritten', line, found: record, checkpoint: due.number }
      else {
        hash = own
        count = record
        coverage.add(record, found.createdAt)
        if (due !== null) await coverage.agree()
      }
    }
    // Stryker disable next-line ConditionalExpression: The loop over the lines stops as well; this saves reading the rest.
    if (broken !== null) break
  }
  const unmet = coverage.due()
  // Also checks whether the checkpoints after a broken record are genuine, and shows how much is missing.
  const to = await coverage.end()
  // Stryker disable next-line ConditionalExpression: With a diagnosis, no later line can be broken.
  if (broken === null && diagnosis !== null) broken = diagnosis.end()
  else if (broken === null && unmet !== null)
    broken = {
      record: count + 1,
      since: coverage.since(),
      to,
      fault: 'cut-off',
      line: line + 1,
      found: null,
      checkpoint: unmet.number,
    }
  const brokenCheckpoint = signed?.broken() ?? null
  const proven = broken?.fault === 'rewritten' ? broken.record - 1 : count
  return {
    ok: broken === null && brokenCheckpoint === null,
    records: proven,
    ...coverage.result(),
    uncovered: proven - (coverage.covered()?.auditTrailID ?? 0),
    brokenRecord: broken,
    brokenCheckpoint,
  }
}

/** Compares two copies of the checkpoints. Returns the first difference and the number of checkpoints in each. */
export const compareCheckpoints = async (
  a: Bytes,
  b: Bytes,
): Promise<{ differs: BrokenCheckpoint | null; counts: [number, number] }> => {
  const [one, two] = [single(linesOf(a, maxCheckpointLine)), single(linesOf(b, maxCheckpointLine))]
  const counts: [number, number] = [0, 0]
  let differs: BrokenCheckpoint | null = null
  for (;;) {
    const [left, right] = [await one.next(), await two.next()]
    if (left.done === true && right.done === true) return { differs, counts }
    if (left.done !== true) counts[0]++
    if (right.done !== true) counts[1]++
    if (left.done !== true && right.done !== true && left.value.text !== right.value.text)
      differs ??= { checkpoint: counts[0], fault: 'disagrees', line: counts[0] }
  }
}
