import type { BrokenCheckpoint, BrokenRecord, TrailVerdict } from '@portcullis/domain'

export interface Copy {
  name: string
  isDatabase: boolean
  count: number
  /** The first checkpoint that differs from the other copies. */
  differs: BrokenCheckpoint | null
}

const number = (n: number): string => n.toLocaleString('en')

const range = (from: number, to: number): string =>
  from === to ? `record ${number(from)}` : `records ${number(from)} to ${number(to)}`

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const recordText = ({ record, since, to, fault, found, checkpoint, line }: BrokenRecord): string[] => {
  const there = found === null ? 'an entry that is not a record' : `record ${number(found)}`
  const what: Readonly<Record<BrokenRecord['fault'], string>> = {
    edited: 'its text or the text of the previous record does not match its hash',
    hash: 'its text is unchanged, but its hash was changed',
    columns: 'its text is unchanged, but the columns for lists differ from it',
    missing: `${to === record ? 'it is' : `${range(record, to)} are`} missing; ${there} follows`,
    inserted: `${there} is in its place and does not belong there`,
    reordered: `${there} is in its place; it belongs to a later position`,
    renumbered: `its number was changed to ${number(found ?? 0)}`,
    unreadable: 'its line is not a record that this product wrote',
    'cut-off': `the trail ends before it, but checkpoint ${number(checkpoint ?? 0)} covers it; ${range(record, to)} ${to === record ? 'is' : 'are'} missing`,
    rewritten: `the chain was rebuilt: checkpoint ${number(checkpoint ?? 0)} covers a different record ${number(to)}; the change is in ${range(record, to)}`,
  }
  return [
    `BROKEN at record ${number(record)} (line ${number(line)}): ${what[fault]}.`,
    ...(since < record && fault !== 'rewritten'
      ? [
          `${capital(range(since, record - 1))} ${since === record - 1 ? 'follows' : 'follow'} from the previous records, but no checkpoint covers this part: if hashes were rebuilt, the change begins there.`,
        ]
      : []),
    ...(fault === 'cut-off' ? [] : ['The records after it were not checked.']),
  ]
}

const checkpointText = ({ checkpoint, fault, line }: BrokenCheckpoint): string => {
  const what: Readonly<Record<BrokenCheckpoint['fault'], string>> = {
    unreadable: 'its line is not a checkpoint',
    edited: 'it does not match its signature',
    forged: 'it was signed by none of the given keys',
    missing: 'it is missing',
    repeated: 'an earlier checkpoint is in its place',
    disagrees: 'the copies differ',
  }
  return `BROKEN checkpoint ${number(checkpoint)} (line ${number(line)}): ${what[fault]}.`
}

/** The verdict, with the reasons why an unbroken trail is not proven; empty if it is proven. */
export type Verdict = TrailVerdict & { notProven: string[] }

export const auditReport = (verdict: Verdict, copies: readonly Copy[]): string[] => {
  const { coveredLate: late, records, checkpoints, covered, uncovered, brokenRecord, brokenCheckpoint } = verdict
  const most = Math.max(0, ...copies.map(({ count }) => count))
  return [
    ...(records > 0
      ? [`${records === 1 ? 'Record 1 is' : `Records 1 to ${number(records)} are`} chained.`]
      : brokenRecord === null
        ? ['The trail is empty: a new server writes its first record with its first account.']
        : []),
    ...(copies.length === 0
      ? ['No checkpoints were given. A trail that was truncated or completely rebuilt would look the same.']
      : covered === null
        ? ['No genuine checkpoint covers any of these records.']
        : [
            `${number(checkpoints)} genuine ${checkpoints === 1 ? 'checkpoint agrees' : 'checkpoints agree'}; the newest is ${number(covered.number)} of ${covered.time} by key ${covered.keyId}, and covers records up to ${number(covered.auditTrailID)}.`,
          ]),
    ...(copies.length > 0 && uncovered > 0
      ? [
          `Not covered: ${range(records - uncovered + 1, records)}; these records could be rebuilt or removed without detection.`,
        ]
      : []),
    ...(late === null
      ? []
      : [
          `Covered late: ${number(late.records)} of ${range(late.first, late.last)}, by checkpoints made over ten minutes after them. They prove only the state at that time.`,
        ]),
    ...copies
      .filter(({ count, isDatabase }) => count < most && !isDatabase)
      .map(({ name, count }) => `${name} has ${number(count)} checkpoints of ${number(most)}.`),
    ...(brokenCheckpoint === null ? [] : [checkpointText(brokenCheckpoint)]),
    ...(brokenRecord === null ? [] : recordText(brokenRecord)),
    ...verdict.notProven.map((why) => `Not proven: ${why}.`),
    ...(verdict.ok ? ['The trail is intact.'] : []),
  ]
}
