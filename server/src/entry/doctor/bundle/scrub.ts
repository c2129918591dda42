import { createHmac, randomBytes } from 'node:crypto'
import { redact, redacted } from './redact.ts'
import { replaceTokens, tokensOf } from './tokens.ts'

/** Forms that contain no name: numbers of up to seven digits with a unit, versions, times and dates. */
const plain = [
  /^\d{1,7}(?:\.\d{1,7})?(?:ms|s|m|h|d|[kKMGT]i?B)?$/,
  /^v?\d{1,5}\.\d{1,5}\.\d{1,5}$/,
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z?)?$/,
  /^\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$/,
]
/** Addresses of every machine. */
const everywhere: ReadonlySet<string> = new Set(['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost'])
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Shortest text that is treated as a secret wherever it appears, because it mixes letters and digits. */
const secretLength = 20

const looksSecret = (word: string): boolean =>
  word.length >= secretLength && /\d/.test(word) && /[a-z]/i.test(word) && !uuid.test(word) && !plain[2]?.test(word)

export interface ScrubOptions {
  /** Words of the product, in lower case. */
  vocabulary: ReadonlySet<string>
  /** Names of this installation. They are replaced even if the product uses the same word. */
  names: readonly string[]
  /** Secrets that this command knows. They are removed from every text. */
  secrets: readonly string[]
  /** Keeps names and addresses. Secrets are removed in any case. */
  keepPersonal: boolean
}

export type Scrub = (text: string) => string

/**
 * Returns a function that replaces every word of a text that is neither a word of the product nor a number. Within one
 * bundle, the same word always gets the same pseudonym. The key of the pseudonyms is not stored.
 */
export const createScrub = ({ vocabulary, names, secrets, keepPersonal }: ScrubOptions): Scrub => {
  const key = randomBytes(32)
  const known = new Set(names.flatMap((name) => tokensOf(name.toLowerCase())).filter((name) => name.length > 2))
  const hidden = [...new Set(secrets)].filter((one) => one.length > 3).sort((a, b) => b.length - a.length)
  const pseudonyms = new Map<string, string>()

  function pseudonym(word: string): string {
    const text = word.toLowerCase()
    const found = pseudonyms.get(text) ?? `~${createHmac('sha256', key).update(text).digest('hex').slice(0, 8)}`
    if (pseudonyms.size < 100_000) pseudonyms.set(text, found)
    return found
  }

  function isPlain(word: string): boolean {
    const lower = word.toLowerCase()
    if (known.has(lower)) return false
    return everywhere.has(lower) || plain.some((form) => form.test(word)) || vocabulary.has(lower)
  }

  function replaced(word: string): string {
    if (isPlain(word)) return word
    // host:port and user@host: each part by itself, but not IPv6 and MAC addresses.
    if (/^[0-9a-f.]*(?::[0-9a-f.]*){2,}$/i.test(word)) return pseudonym(word)
    // Parts of a mail address or a directory account are names, even if the product has the same words.
    const isName = /[@\\]/.test(word)
    return word
      .split(/([:@\\])/)
      .map((part, at) => (at % 2 === 1 || part === '' || (!isName && isPlain(part)) ? part : pseudonym(part)))
      .join('')
  }

  return (text) => {
    let rest = text
    for (const secret of hidden) rest = rest.replaceAll(secret, redacted)
    rest = rest.replace(/(\/\/)[^\s/@"']+@/g, `$1${redacted}@`)
    rest = redact(rest, (word) => vocabulary.has(word.toLowerCase()))
    if (keepPersonal) return rest.replace(/[\w+~-]{20,}={0,2}/g, (word) => (looksSecret(word) ? pseudonym(word) : word))
    // The database user, the path of a socket and similar are also names.
    return replaceTokens(rest, replaced)
  }
}
