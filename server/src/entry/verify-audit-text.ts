import type { BrokenCheckpoint, BrokenRecord, TrailVerdict } from '@portcullis/domain'

/** A copy of the checkpoints. */
export interface Copy {
  name: string
  isDatabase: boolean
  count: number
  /** The first on which it does not agree with the others. */
  differs: BrokenCheckpoint | null
}

const number = (n: number): string => n.toLocaleString('en')

const range = (from: number, to: number): string =>
  from === to ? `record ${number(from)}` : `records ${number(from)} to ${number(to)}`

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const recordText = ({ record, since, to, fault, found, checkpoint, line }: BrokenRecord): string[] => {
  const there = found === null ? 'something that is no record' : `record ${number(found)}`
  const what: Readonly<Record<BrokenRecord['fault'], string>> = {
    edited: 'its text, or that of the one before, is not the one that was hashed',
    hash: 'its text is the one that was hashed, its hash was changed',
    columns: 'its text is whole, the columns that lists go by say something else',
    missing: `${to === record ? 'it is' : `${range(record, to)} are`} missing; ${there} follows`,
    inserted: `in its place stands ${there}, which does not belong there`,
    reordered: `in its place stands ${there}; it comes later`,
    renumbered: `its number was changed to ${number(found ?? 0)}`,
    unreadable: 'its line is no record, or was not written by this product in this form',
    'cut-off': `the trail ends before it, and checkpoint ${number(checkpoint ?? 0)} saw it; ${range(record, to)} ${to === record ? 'is' : 'are'} gone`,
    rewritten: `the chain was made anew: checkpoint ${number(checkpoint ?? 0)} saw another record ${number(to)}; what was changed lies in ${range(record, to)}`,
  }
  return [
    `BROKEN at record ${number(record)} (line ${number(line)}): ${what[fault]}.`,
    ...(since < record && fault !== 'rewritten'
      ? [
          `${capital(range(since, record - 1))} ${since === record - 1 ? 'follows' : 'follow'} from what was before, but no checkpoint vouches for it: if hashes were made anew, the change begins there.`,
        ]
      : []),
    ...(fault === 'cut-off' ? [] : ['What comes behind it was not judged.']),
  ]
}

const checkpointText = ({ checkpoint, fault, line }: BrokenCheckpoint): string => {
  const what: Readonly<Record<BrokenCheckpoint['fault'], string>> = {
    unreadable: 'its line is no checkpoint',
    edited: 'it is not what was signed',
    forged: 'it was signed by a key that is not one of those given',
    missing: 'it is missing',
    repeated: 'one that belongs before it stands in its place',
    disagrees: 'the copies have it otherwise',
  }
  return `BROKEN checkpoint ${number(checkpoint)} (line ${number(line)}): ${what[fault]}.`
}

/** With why nothing is proven although nothing is broken; empty when it is. */
export type Verdict = TrailVerdict & { notProven: string[] }

/** What was found, for people. */
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
      ? ['No checkpoints were given: a trail that was cut off, or made anew as a whole, looks like this one.']
      : covered === null
        ? ['No genuine checkpoint covers any of them.']
        : [
            `${number(checkpoints)} genuine ${checkpoints === 1 ? 'checkpoint agrees' : 'checkpoints agree'}; the newest is ${number(covered.number)} of ${covered.time} by key ${covered.keyId}, and covers records up to ${number(covered.auditTrailID)}.`,
          ]),
    ...(copies.length > 0 && uncovered > 0
      ? [
          `Not covered: ${range(records - uncovered + 1, records)}; what is not covered could be made anew, or cut off, unseen.`,
        ]
      : []),
    ...(late === null
      ? []
      : [
          `Covered late: ${number(late.records)} of ${range(late.first, late.last)}, by checkpoints made over ten minutes after them. They vouch for what was there then.`,
        ]),
    ...copies
      .filter(({ count, isDatabase }) => count < most && !isDatabase)
      .map(({ name, count }) => `${name} has ${number(count)} checkpoints of ${number(most)}.`),
    ...(brokenCheckpoint === null ? [] : [checkpointText(brokenCheckpoint)]),
    ...(brokenRecord === null ? [] : recordText(brokenRecord)),
    ...verdict.notProven.map((why) => `Not proven: ${why}.`),
    ...(verdict.ok ? ['The trail is whole.'] : []),
  ]
}
