/** The five numbers of the overview. */
export interface Numbers {
  connected: number
  armed: number
  attackTools: number
  vulnerable: number
  violating: number
}

/** The numbers that an account saw at a time (ms since 1970). */
export interface Snapshot {
  at: number
  numbers: Numbers
}

/** Stored per account: the last look of the previous visit, and the newest look of this visit. */
export interface Visits {
  before: Snapshot | null
  latest: Snapshot
}

// A longer pause ends a visit.
const visitEnds = 30 * 60_000

/** Adds a new look. After a pause, changes count from the last look before it. */
export const advance = (stored: Visits | null, look: Snapshot): Visits => {
  if (stored === null) return { before: null, latest: look }
  const isNewVisit = look.at - stored.latest.at > visitEnds
  return { before: isNewVisit ? stored.latest : stored.before, latest: look }
}

const isSnapshot = (value: unknown): value is Snapshot => {
  const snapshot = value as Snapshot | null
  return (
    typeof snapshot === 'object' &&
    snapshot !== null &&
    typeof snapshot.at === 'number' &&
    typeof snapshot.numbers === 'object' &&
    snapshot.numbers !== null &&
    (['connected', 'armed', 'attackTools', 'vulnerable', 'violating'] as const).every(
      (name) => typeof snapshot.numbers[name] === 'number',
    )
  )
}

/** Parses stored visits; null if unreadable. */
export const parseVisits = (text: string | null): Visits | null => {
  if (text === null) return null
  try {
    const value = JSON.parse(text) as Visits | null
    if (value === null || !isSnapshot(value.latest)) return null
    return { before: isSnapshot(value.before) ? value.before : null, latest: value.latest }
  } catch {
    return null
  }
}
