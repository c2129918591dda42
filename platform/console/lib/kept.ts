/** What a person typed into a form, and when. */
export interface Kept<T> {
  at: string
  value: T
}

const prefix = 'portcullis.draft.'
const keptFor = 7 * 86_400_000

const readKept = <T>(text: string | null, now: number): Kept<T> | null => {
  if (text === null) return null
  try {
    const kept = JSON.parse(text) as Kept<T>
    return now - Date.parse(kept.at) <= keptFor && kept.value !== undefined ? kept : null
  } catch {
    return null
  }
}

/** Deletes what is too old, of every account that used this browser. */
const forgetOld = (storage: Storage, now: number): void => {
  for (const key of Object.keys(storage))
    if (key.startsWith(prefix) && readKept(storage.getItem(key), now) === null) storage.removeItem(key)
}

/** Returns the beginning of the keys of an account. No account begins with another one and a dot. */
const keysOf = (account: string): string => `${prefix}${encodeURIComponent(account).replaceAll('.', '%2E')}.`

/** Deletes what an account typed, for example when it signs out. */
export const forgetKept = (storage: Storage, account: string): void => {
  try {
    for (const key of Object.keys(storage)) if (key.startsWith(keysOf(account))) storage.removeItem(key)
  } catch {
    // The browser refuses storage, so nothing is kept.
  }
}

/**
 * Returns whether a value has all members of a sample, of the same types. A member that is null in one of them can have any
 * type.
 */
const isLike = (value: unknown, sample: unknown): boolean => {
  if (value === null || sample === null) return true
  if (typeof value !== typeof sample || Array.isArray(value) !== Array.isArray(sample)) return false
  if (typeof sample !== 'object' || Array.isArray(sample)) return true
  return Object.entries(sample as object).every(
    ([name, member]) => member === undefined || isLike((value as Record<string, unknown>)[name], member),
  )
}

/**
 * Keeps what a person typed and has not saved, in this browser, for seven days. It survives an ended session and a closed
 * tab, but not signing out. Only the same account finds it again. Secrets must not be kept. `sample`: a value of the shape that
 * the form expects. Another release may have kept another one, which is ignored.
 */
export const createKept = <T>(storage: Storage, account: string, name: string, sample: T) => {
  const key = `${keysOf(account)}${name}`
  return {
    /** Returns null if nothing is kept, or the browser refuses. */
    read: (now: number): Kept<T> | null => {
      try {
        forgetOld(storage, now)
        const kept = readKept<T>(storage.getItem(key), now)
        return kept !== null && isLike(kept.value, sample) ? kept : null
      } catch {
        return null
      }
    },
    /** Keeps a value; null: forgets it. */
    keep: (value: T | null, now: number): void => {
      try {
        if (value === null) storage.removeItem(key)
        else storage.setItem(key, JSON.stringify({ at: new Date(now).toISOString(), value } satisfies Kept<T>))
      } catch {
        // Full, or refused by the browser: the form works without.
      }
    },
  }
}
