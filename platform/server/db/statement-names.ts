import { createHash } from 'node:crypto'

/**
 * Maximum number of named statements: 50 of our source, plus filters and sorts in frequent use. The database keeps a
 * named statement as long as its connection (about 160 kB for a list), so rare ones must not get a name.
 */
const namedAtMost = 160
/** Use from which a statement gets a name. */
const hotFrom = 3
/** Texts counted at the same time. */
const countedAtMost = 2_000

/** Comment in a statement that a person composes. There are too many of them for names, and a plan with 50 terms is large. */
export const composed = '/* composed */'

/** Names prepared statements by their text; undefined for a statement that is not worth a name (yet). */
export const createStatementNames = (): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const seen = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= namedAtMost || text.includes(composed)) return known
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
