import type { Clock } from '@portcullis/platform/server/clock.ts'

/** Maximum number of limits in memory. Beyond it, the oldest is dropped, and the database refuses instead. */
const limitsKept = 10_000
/** Maximum number of known addresses, latest first. */
export const sourcesKept = 100_000

interface Limit {
  until: number
  /** Names that may still be tried from a limited address, because their accounts signed in from it. */
  exempt: ReadonlySet<string>
}

const noNames: ReadonlySet<string> = new Set()

/**
 * Keeps in memory which limits are reached, and from which addresses accounts signed in. This stops a flood from a
 * limited address before the password queue and the database.
 */
export const createSigninLimits = (clock: Clock) => {
  const limits = new Map<string, Limit>()
  let sources = new Set<string>()
  const refused = new Map<string, { ip: string; count: number }>()

  function endsOf(bucket: string): Limit | undefined {
    const limit = limits.get(bucket)
    if (limit === undefined || limit.until > clock.now()) return limit
    // Stryker disable next-line CallExpression: An expired limit has no effect. Its removal only frees memory.
    limits.delete(bucket)
    return undefined
  }

  return {
    /** Keeps the limit of a full bucket until `until`. */
    add: (bucket: string, until: number, exempt: ReadonlySet<string> = noNames): void => {
      limits.delete(bucket)
      limits.set(bucket, { until, exempt })
      if (limits.size <= limitsKept) return
      const [oldest] = limits.keys()
      // Stryker disable next-line ConditionalExpression: The map is not empty here.
      if (oldest !== undefined) limits.delete(oldest)
    },

    /** Returns the seconds until the bucket accepts an attempt again. Null if it is not known to be full. */
    secondsOf: (bucket: string, name: string): number | null => {
      const limit = endsOf(bucket)
      return limit === undefined || limit.exempt.has(name)
        ? null
        : Math.max(1, Math.ceil((limit.until - clock.now()) / 1000))
    },

    /** Counts a refusal for the audit trail. */
    refused: (address: string, ip: string): void => {
      const seen = refused.get(address)
      if (seen !== undefined) seen.count++
      else if (refused.size < limitsKept) refused.set(address, { ip, count: 1 })
    },

    /** Returns the refusals since the last call. */
    takeRefused: (): { ip: string; count: number }[] => {
      const taken = [...refused.values()]
      refused.clear()
      return taken
    },

    /** Records a sign-in: the address becomes known, and the name is exempt from the limit of that address. */
    signedIn: (bucket: string, address: string, name: string): void => {
      sources.add(address)
      const limit = limits.get(bucket)
      if (limit !== undefined) limit.exempt = new Set([...limit.exempt, name])
    },
    isKnownSource: (address: string): boolean => sources.has(address),
    setSources: (addresses: readonly string[]): void => {
      sources = new Set(addresses)
    },
  }
}
