// Invariant: No regular expression takes super-linear time.

import { alertCatalogue, alertCause, eventTextForms } from '@portcullis/features/contract.ts'
import { check } from 'recheck'
import { atLeast, atMost, type Check, figure, type Outcome, round } from '../kit/verdict.ts'
import { expressionsOf } from './source/expressions.ts'
import { sourceFiles } from './source/files.ts'

const causes = Object.values(alertCatalogue).map(alertCause)
const titles = String.raw`^(.+) (\((?:${causes.join('|')})\)(?: on .*)?)$`

interface Made {
  file: string
  /** Part of the argument of `RegExp`. */
  of: string
  /** All values, or why they are safe. */
  are: readonly string[] | string
  flags?: string
  /** Longest input. The time may grow faster than the input, so it is measured at this length. */
  longest?: number
}

/** Expressions that are built at run time. */
const made: readonly Made[] = [
  {
    file: 'features/knowledge/server/patterns.ts',
    of: 'pattern',
    are: 'compiled only to check the syntax; its steps are counted right after',
  },
  {
    file: 'domain/src/device-test.ts',
    of: 'pattern',
    are: 'from the knowledge, which accepts only patterns with bounded steps (knowledge.patterns.test.ts)',
  },
  { file: 'domain/src/knowledge.ts', of: 'pattern', are: 'the same patterns of the knowledge' },
  {
    file: 'platform/server/http/openapi-schema.ts',
    of: 'schema.pattern',
    are: 'a pattern of the contract, which this gate checks, run on the example of the server',
  },
  {
    file: 'platform/contract/event-text.ts',
    ...{ of: 'pattern', are: eventTextForms.map(([form]) => form), flags: 's', longest: 2_000 },
  },
  { file: 'features/alerts/console/shared/line.ts', of: 'cause', are: [titles], flags: 's' },
  { file: 'platform/server/http/console.ts', of: 'encoding', are: ['\\bbr\\b', '\\bgzip\\b'] },
  { file: 'domain/src/platforms/feed-text.ts', of: 'name', are: ['^ComputerName=([^\\r\\n]*)'], flags: 'm' },
]

const attackLength = 100_000

/**
 * Returns true if a match takes a bounded number of steps from each start, so the time is linear. Every repetition is bounded,
 * except one at the end, after which nothing can fail. recheck samples high bounds as if they were unbounded.
 */
const isBounded = (source: string): boolean => {
  const plain = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  return !/[*+]|\{\d+,\}/.test(plain.replace(/x[*+]$/, ''))
}

/** Returns long texts that repeat characters of the expression and end with an unexpected one. */
const attacksOn = (source: string, length: number): string[] => {
  const own = [...new Set(source.replace(/\\[dws]/g, 'a1 ').replace(/[^\w \-/=.,:<>"'@[\]]/g, ''))].slice(0, 6)
  return [...own, 'a', '0', ' ', ...(own.length > 1 ? [own.join('')] : [])].map(
    (part) => `${part.repeat(Math.ceil(length / part.length))}\u0000`,
  )
}

/** Checks that every regular expression in the sources runs in linear time on any text. */
export const redos: Check = {
  name: 'redos',
  what: 'recheck proves that no regular expression in the sources or in the patterns of the contract takes super-linear time. Then each expression is run on texts of 100 kB.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const { known: literal, unknown } = expressionsOf(sourceFiles(root))
    const known = [
      ...literal.map((one) => ({ ...one, longest: undefined })),
      ...made.flatMap(({ file, are, flags = '', longest }) =>
        typeof are === 'string' ? [] : are.map((source) => ({ source, flags, longest, places: [file] })),
      ),
    ]
    const vulnerable: string[] = []
    const undecided: string[] = []
    const times: { ms: number; of: string }[] = []

    for (const { source, flags, places, longest } of known) {
      const named = `/${source}/${flags} at ${places.join(', ')}`
      // A proof for thousands of states takes a minute, but the fuzzer reaches a verdict within half a second.
      let found = await check(source, flags, { timeout: isQuick ? 1_500 : 60_000 })
      if (found.status === 'unknown') found = await check(source, flags, { timeout: 60_000, checker: 'fuzz' })
      if (found.status === 'unknown') undecided.push(`${found.error.kind}: ${named}`)
      const attack = found.status === 'vulnerable' ? [found.attack.string] : []
      if (found.status === 'vulnerable' && longest === undefined && !isBounded(source)) {
        vulnerable.push(`${found.complexity.summary}: ${named}`)
        continue
      }
      const length = longest ?? attackLength
      const expression = new RegExp(source, flags)
      for (const text of [...attacksOn(source, length), ...attack.map((one) => one.slice(0, length))]) {
        expression.lastIndex = 0
        const startedAt = performance.now()
        expression.test(text)
        times.push({ ms: performance.now() - startedAt, of: named })
      }
    }
    times.sort((a, b) => b.ms - a.ms)
    const unexplained = unknown.filter(
      ({ place, of }) => !made.some((one) => place.startsWith(`${one.file}:`) && of.includes(one.of)),
    )
    return {
      findings: [
        atLeast('expressions', known.length, 250),
        atMost('super-linear', vulnerable.length, 0),
        atMost('not decided', undecided.length, 0),
        atMost('made at run time, unexplained', unexplained.length, 0),
        atLeast('runs on 100 kB', times.length, 1_000),
        atMost('on 100 kB p99', round(times[Math.floor(times.length / 100)]?.ms ?? Number.NaN), 50, 'ms'),
        figure('on 100 kB, slowest', round(times[0]?.ms ?? Number.NaN, 1), 'ms', times[0]?.of),
      ],
      notes: [...vulnerable, ...undecided, ...unexplained.map(({ place, of }) => `${place}: ${of}`)].slice(0, 20),
    }
  },
}
