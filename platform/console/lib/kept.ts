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
    return now - Date.parse(kept.at) <= keptFor ? kept : null
  } catch {
    return null
  }
}

/** Deletes what is too old, of every account that used this browser. */
const forgetOld = (storage: Storage, now: number): void => {
  for (const key of Object.keys(storage))
    if (key.startsWith(prefix) && readKept(storage.getItem(key), now) === null) storage.removeItem(key)
}

/**
 * Keeps what a person typed and has not saved, in this browser, for seven days. It survives an ended session and a closed
 * tab. Only the same account finds it again. Secrets must not be kept.
 */
export const createKept = <T>(storage: Storage, account: string, name: string) => {
  const key = `${prefix}${account}.${name}`
  return {
    /** Returns null if nothing is kept, or the browser refuses. */
    read: (now: number): Kept<T> | null => {
      try {
        forgetOld(storage, now)
        return readKept(storage.getItem(key), now)
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
