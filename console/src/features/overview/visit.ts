/** The five numbers of the overview. */
export interface Numbers {
  connected: number
  armed: number
  attackTools: number
  vulnerable: number
  violating: number
}

/** What an account saw at a time, ms since 1970. */
export interface Snapshot {
  at: number
  numbers: Numbers
}

/** What is kept per account: the end of the visit before, and the newest look of this one. */
export interface Visits {
  before: Snapshot | null
  latest: Snapshot
}

// A pause this long ends a visit: shorter ones are a coffee, and what changed meanwhile still counts as "before it".
const visitEnds = 30 * 60_000

/** Takes a new look into account. After a pause, the newest look before it becomes what changes are counted from. */
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

/** Reads what was kept; anything unreadable counts as nothing. */
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
