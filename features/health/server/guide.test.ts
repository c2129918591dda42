import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { subsystemNames, subsystemOf } from '#features/contract.ts'

const guide = readFileSync(new URL('../../../docs/guide/health.md', import.meta.url), 'utf8')

describe('the health guide', () => {
  it('has advice for every subsystem', () => {
    const sections = [...guide.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
    expect(sections).toEqual([...subsystemNames])
    for (const { cure, setUp } of subsystemNames.map(subsystemOf))
      for (const text of [cure, ...(setUp === undefined ? [] : [setUp])]) expect(text).toMatch(/^[A-Z].{20,360}\.$/)
  })
})
