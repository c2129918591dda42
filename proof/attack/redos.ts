// Invariant: No regular expression takes super-linear time.

import { check } from 'recheck'
import { atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'
import { expressionsOf } from './source/expressions.ts'
import { sourceFiles } from './source/files.ts'

/** Expressions that are built at run time from safe input, by file and argument. */
const explained: readonly { file: string; of: string }[] = [
  // Compiled only to check its syntax; its steps are counted right after (knowledge.patterns.ts).
  { file: 'features/knowledge/server/knowledge.patterns.ts', of: 'pattern' },
  // Patterns of the knowledge base, which accepts only patterns with bounded steps (knowledge.patterns.test.ts).
  { file: 'domain/src/device-test.ts', of: 'pattern' },
  // A pattern of the contract, run on the server's own example. This gate checks those patterns.
  { file: 'platform/server/http/openapi-schema.ts', of: 'schema.pattern' },
]

const attackLength = 100_000

/** Returns long texts that repeat characters of the expression and end with an unexpected one. */
const attacksOn = (source: string): string[] => {
  const own = [...new Set(source.replace(/\\[dws]/g, 'a1 ').replace(/[^\w \-/=.,:<>"'@[\]]/g, ''))].slice(0, 6)
  return [...own, 'a', '0', ' ', ...(own.length > 1 ? [own.join('')] : [])].map(
    (part) => `${part.repeat(Math.ceil(attackLength / part.length))}\u0000`,
  )
}

/** Checks that every regular expression in the sources runs in linear time on any text. */
export const redos: Check = {
  name: 'redos',
  what: 'recheck proves that no regular expression in the sources or in the patterns of the contract takes super-linear time. Then each expression is run on texts of 100 kB.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const { known, unknown } = expressionsOf(sourceFiles(root))
    const vulnerable: string[] = []
    const undecided: string[] = []
    const times: { ms: number; of: string }[] = []

    for (const { source, flags, places } of known) {
      const named = `/${source}/${flags} at ${places.join(', ')}`
      // A proof for thousands of states takes a minute, but the fuzzer reaches a verdict within half a second.
      let found = await check(source, flags, { timeout: isQuick ? 1_500 : 60_000 })
      if (found.status === 'unknown') found = await check(source, flags, { timeout: 60_000, checker: 'fuzz' })
      if (found.status === 'vulnerable') vulnerable.push(`${found.complexity.summary}: ${named}`)
      else if (found.status !== 'safe') undecided.push(`${found.error.kind}: ${named}`)

      if (found.status === 'vulnerable') continue
      const expression = new RegExp(source, flags)
      for (const text of attacksOn(source)) {
        expression.lastIndex = 0
        const startedAt = performance.now()
        expression.test(text)
        times.push({ ms: performance.now() - startedAt, of: named })
      }
    }
    times.sort((a, b) => b.ms - a.ms)
    const unexplained = unknown.filter(
      ({ place, of }) => !explained.some((one) => place.startsWith(`${one.file}:`) && one.of === of),
    )
    return {
      findings: [
        atLeast('expressions', known.length, 250),
        atMost('super-linear', vulnerable.length, 0),
        atMost('not decided', undecided.length, 0),
        atMost('made at run time, unexplained', unexplained.length, 0),
        atLeast('runs on 100 kB', times.length, 1_000),
        atMost(
          'on 100 kB p99',
          Math.round((times[Math.floor(times.length / 100)]?.ms ?? Number.NaN) * 100) / 100,
          50,
          'ms',
        ),
        figure('on 100 kB, slowest', Math.round((times[0]?.ms ?? Number.NaN) * 10) / 10, 'ms'),
      ],
      notes: [...vulnerable, ...undecided, ...unexplained.map(({ place, of }) => `${place}: ${of}`)].slice(0, 20),
    }
  },
}
