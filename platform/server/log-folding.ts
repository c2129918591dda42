import type { LogFn, Logger } from 'pino'

/** Kinds of lines tracked; beyond that, the least recently used one is dropped. */
const kindsKept = 1_000
/** Lines of a kind written in full per interval. */
const inFull = { warning: 1, information: 20 } as const
const warning = 40
/** Quiet intervals after which a kind is new again, including its stack trace. */
const quietIntervals = 20

interface Kind {
  count: number
  folded: number
  quiet: number
  isStackWritten: boolean
  write(fields: Record<string, unknown>): void
}

interface Fields {
  err?: unknown
  code?: unknown
  cause?: unknown
  route?: unknown
  path?: unknown
  statement?: unknown
}

const codeOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return String(code ?? name ?? '')
}

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/**
 * Returns an error as fields, without its stack. No member is named `message`, because pino would treat it as an error.
 */
const withoutStack = (error: unknown): unknown =>
  error instanceof Error
    ? { type: error.name, reason: error.message, ...('code' in error ? { code: error.code } : {}) }
    : error

/**
 * Aggregates repeated lines. Writes the first of a kind immediately and in full, and the others of an interval as one
 * line with their number. A kind is a level, message, error code or class, cause, and route or SQL text; clients choose
 * none of these.
 */
export const createFolding = () => {
  const kinds = new Map<string, Kind>()

  function tell(kind: Kind): void {
    if (kind.folded > 0) kind.write({ folded: kind.folded })
    kind.folded = 0
  }

  function kindOf(key: string, write: Kind['write']): Kind {
    const known = kinds.get(key)
    const kind = known ?? { count: 0, folded: 0, quiet: 0, isStackWritten: false, write }
    kinds.delete(key)
    kinds.set(key, kind)
    const [oldest] = kinds
    if (kinds.size > kindsKept && oldest !== undefined) {
      tell(oldest[1])
      kinds.delete(oldest[0])
    }
    return kind
  }

  return {
    /** Hook for `hooks.logMethod` of pino. */
    logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
      const [first, second]: readonly unknown[] = args
      const fields: Fields = typeof first === 'object' && first !== null && !(first instanceof Error) ? first : {}
      const error = first instanceof Error ? first : fields.err
      const message = typeof first === 'string' ? first : String(second ?? '')
      const code = error === undefined ? textOf(fields.code) : codeOf(error)
      const cause = textOf(fields.cause)
      const route = String(fields.route ?? fields.path ?? fields.statement ?? '')
      const parts = Object.entries({ code, cause, route }).filter(([, value]) => value !== '')
      const kind = kindOf([level, message, code, cause, route].join('\n'), (more) =>
        method.call(this, { ...more, ...Object.fromEntries(parts) } as never, message as never),
      )
      kind.count++
      kind.quiet = 0
      if (kind.count > (level >= warning ? inFull.warning : inFull.information)) kind.folded++
      else if (kind.isStackWritten)
        method.call(this, { ...fields, err: withoutStack(error) } as never, message as never)
      else {
        kind.isStackWritten = error !== undefined
        method.apply(this, args)
      }
    },

    /** Ends an interval: writes the number of aggregated lines of each kind. */
    flush: (): void => {
      for (const [key, kind] of kinds) {
        tell(kind)
        kind.count = 0
        if (++kind.quiet > quietIntervals) kinds.delete(key)
      }
    },
  }
}
