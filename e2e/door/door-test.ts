import { expect, it } from 'vitest'
import { root } from '../../proof/kit/root.ts'
import { isMet, type Outcome } from '../../proof/kit/verdict.ts'

/** Tests the whole interface from outside. Every figure must reach its limit, and every part must run. */
export const doorTest = (name: string, run: (options: { root: string }) => Promise<Outcome>): void =>
  it(name, { timeout: 600_000 }, async () => {
    const { findings, notRun = [], notes = [] } = await run({ root })
    const missed = findings.filter((finding) => !isMet(finding))
    expect({ missed, notRun }, notes.join('\n')).toEqual({ missed: [], notRun: [] })
  })
