import { AUDIT_GENESIS, type AuditLine, auditHash, columnsAgree, maxAuditLine, parseAuditLine } from './audit-chain.ts'
import {
  type AuditCheckpoint,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  judgeSignature,
  maxCheckpointLine,
  parseCheckpoint,
} from './audit-checkpoint.ts'
import { linesOf } from './audit-lines.ts'

/** What is wrong with the first record that is not as it was written. */
export type RecordFault =
  /** Its text, or all of it, is another one. */
  | 'edited'
  /** The record is as it was, its hash is not. */
  | 'hash'
  /** The record is as it was; the columns that lists go by say something else. */
  | 'columns'
  /** It is gone; the next one that is there has a later number. */
  | 'missing'
  /** Another one stands before it. */
  | 'inserted'
  /** It comes later than one that was written after it. */
  | 'reordered'
  /** Its number is another one. */
  | 'renumbered'
  /** The line in its place is no record. */
  | 'unreadable'
  /** The trail ends before it, and a checkpoint says that it was there. */
  | 'cut-off'
  /** The chain holds, and a checkpoint says that it was another one: records were changed and all hashes made anew. */
  | 'rewritten'

/** What is wrong with the first checkpoint that is not as it was made. */
export type CheckpointFault =
  | 'unreadable'
  /** By its name it was signed by this key, and it was not. */
  | 'edited'
  /** Signed by a key that is not one of those given. */
  | 'forged'
  | 'missing'
  /** One stands in its place that belongs before it. */
  | 'repeated'
  /** Two copies have it otherwise. */
  | 'disagrees'

export interface BrokenRecord {
  /** The first record that does not follow from those before it, or is not what a checkpoint says. */
  record: number
  /**
   * The first record behind the last good checkpoint. Who makes hashes anew behind what he changes is found out where
   * he stops: what was changed lies between this one and `to`.
   */
  since: number
  /** The last one it may be, or of those that are gone. */
  to: number
  fault: RecordFault
  /** Line of the trail, from 1. */
  line: number
  /** Number that the line has instead. */
  found: number | null
  /** The checkpoint that says so. */
  checkpoint: number | null
}

export interface BrokenCheckpoint {
  checkpoint: number
  fault: CheckpointFault
  /** Line of the checkpoints, from 1. */
  line: number
}

export interface TrailVerdict {
  ok: boolean
  /** Records from the first that follow from each other. */
  records: number
  /** Checkpoints that are genuine and agree with the trail. */
  checkpoints: number
  /** The newest of those. */
  covered: Pick<AuditCheckpoint, 'number' | 'auditTrailID' | 'time' | 'keyId'> | null
  /** Unbroken records that no checkpoint covers: their order and text could be replaced as a whole. */
  uncovered: number
  /** Covered records whose checkpoint was made over ten minutes after them, and so vouches for them only since then. */
  coveredLate: { records: number; first: number; last: number } | null
  brokenRecord: BrokenRecord | null
  brokenCheckpoint: BrokenCheckpoint | null
}

/** A checkpoint comes within a minute; this is late. */
const lateMs = 10 * 60_000

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function* single<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const group of groups) yield* group
}

/** Genuine checkpoints in their order; the first that is not is noted, and those behind it still count. */
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
      const found = text === null ? null : parseCheckpoint(text)
      const signature = found === null ? null : judgeSignature(found, keys)
      if (found === null) note('unreadable')
      else if (signature !== 'good') note(signature === 'forged' ? 'forged' : 'edited')
      else if (found.number < due) note('repeated')
      else if (found.number !== due || found.previous !== previous) note('missing')
      if (found !== null && signature === 'good' && found.auditTrailID > covered) {
        covered = found.auditTrailID
        yield found
      }
      due++
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

/** Says what a break is, by what comes after it. */
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
        return found.id > record ? 'missing' : 'inserted'
      })()
      const to = fault === 'missing' && found !== null ? found.id - 1 : record
      return { record, since, to, fault, line, found: found?.id ?? null, checkpoint: null }
    },
  }
}

/**
 * Walks a trail and its checkpoints beside each other, in the memory of a line each. The first record that is not proven
 * is named; what follows it is only read to tell what happened there.
 * @param checkpoints null: there are none to hold it against, so a trail that was rewritten or cut off would pass
 */
export const verifyTrail = async (
  trail: Bytes,
  checkpoints: { bytes: Bytes; keys: CheckpointKeys } | null,
): Promise<TrailVerdict> => {
  const signed = checkpoints === null ? null : readCheckpoints(checkpoints.bytes, checkpoints.keys)
  const next = async (): Promise<AuditCheckpoint | null> => (await signed?.genuine.next())?.value ?? null
  let due = await next()
  let covered: AuditCheckpoint | null = null
  let agreed = 0
  const coveredLate = { records: 0, first: 0, last: 0 }
  /** Numbers of those behind the last good checkpoint. */
  let late: number[] = []
  let count = 0
  let line = 0
  let hash: Uint8Array = AUDIT_GENESIS
  let broken: BrokenRecord | null = null
  let diagnosis: ReturnType<typeof createDiagnosis> | null = null
  for await (const lines of linesOf(trail, maxAuditLine)) {
    for (const { text } of lines) {
      if (broken !== null) break
      line++
      const found = text === null ? null : parseAuditLine(text)
      if (diagnosis !== null) {
        diagnosis.see(found)
        continue
      }
      const record = count + 1
      const since = (covered?.auditTrailID ?? 0) + 1
      const own = found?.id === record ? auditHash(hash, record, found.record) : null
      if (found === null || own === null || own.toString('hex') !== found.hash) {
        diagnosis = createDiagnosis({ record, since, previous: hash, line, found })
        continue
      }
      if (!columnsAgree(found))
        broken = { record, since: record, to: record, fault: 'columns', line, found: record, checkpoint: null }
      else if (due?.auditTrailID === record && due.hash !== found.hash)
        broken = {
          record: since,
          since,
          to: record,
          fault: 'rewritten',
          line,
          found: record,
          checkpoint: due.number,
        }
      else {
        hash = own
        count = record
        if (due !== null && Date.parse(due.time) - Date.parse(`${found.createdAt}Z`) > lateMs) late.push(record)
        if (due?.auditTrailID === record) {
          covered = due
          agreed++
          coveredLate.records += late.length
          coveredLate.first ||= late[0] ?? 0
          coveredLate.last = late.at(-1) ?? coveredLate.last
          late = []
          due = await next()
        }
      }
    }
    if (broken !== null) break
  }
  if (broken === null && diagnosis !== null) broken = diagnosis.end()
  else if (broken === null && due !== null) {
    const checkpoint = due.number
    // The rest of them says how much is gone.
    let last = due.auditTrailID
    for (let more = await next(); more !== null; more = await next()) last = more.auditTrailID
    broken = {
      record: count + 1,
      since: (covered?.auditTrailID ?? 0) + 1,
      to: last,
      fault: 'cut-off',
      line: line + 1,
      found: null,
      checkpoint,
    }
  }
  // Of checkpoints behind a broken record, too, it is said whether they are genuine.
  while ((await next()) !== null);
  const brokenCheckpoint = signed?.broken() ?? null
  const proven = broken?.fault === 'rewritten' ? broken.record - 1 : count
  return {
    ok: broken === null && brokenCheckpoint === null,
    records: proven,
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
    uncovered: proven - (covered?.auditTrailID ?? 0),
    coveredLate: coveredLate.records === 0 ? null : coveredLate,
    brokenRecord: broken,
    brokenCheckpoint,
  }
}

/** Compares two copies of the checkpoints: the first that they do not agree on, and how many each has. */
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
