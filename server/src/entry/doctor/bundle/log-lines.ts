import type { Scrub } from './scrub.ts'

interface SlowStatement {
  statement: string
  times: number
  maxMs: number
}

const parsed = (line: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** Returns the lines of a log with every text changed. Lines that are not JSON are changed as text. */
export const linesOf = (log: string, change: (value: unknown) => unknown, scrub: Scrub): string[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = parsed(line)
      return `${fields === null ? scrub(line) : JSON.stringify(change(fields))}\n`
    })

/** Returns the slow statements in a log, the slowest first. */
export const aggregated = (log: string): SlowStatement[] => {
  const found = new Map<string, SlowStatement>()
  for (const line of log.split('\n')) {
    if (!line.includes('"slow statement"')) continue
    const { statement, ms, msg } = parsed(line) ?? {}
    if (msg !== 'slow statement' || typeof statement !== 'string' || typeof ms !== 'number') continue
    const known = found.get(statement) ?? { statement, times: 0, maxMs: 0 }
    found.set(statement, { statement, times: known.times + 1, maxMs: Math.max(known.maxMs, ms) })
  }
  return [...found.values()].sort((a, b) => b.maxMs - a.maxMs).slice(0, 100)
}
