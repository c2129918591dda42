import { createHash } from 'node:crypto'

/**
 * Statements that get a name: 50 of our source, and the filters and sorts that people really use. The database keeps a
 * named one for the life of each connection (some 160 kB for a list), so that sorts nobody asked for twice must not.
 */
const namedAtMost = 160
/** A statement is hot when it comes for the third time. */
const hotFrom = 3
/** Texts that are counted meanwhile. */
const countedAtMost = 2_000

/** Names of prepared statements by their text; undefined for what is not, or not yet, worth one. */
export const createStatementNames = (): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const seen = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= namedAtMost) return known
    const times = (seen.get(text) ?? 0) + 1
    if (times < hotFrom) {
      if (seen.size >= countedAtMost) seen.clear()
      seen.set(text, times)
      return undefined
    }
    seen.delete(text)
    const name = `p${createHash('sha1').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
    return name
  }
}
