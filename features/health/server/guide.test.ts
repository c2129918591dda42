import { readFileSync } from 'node:fs'
import { subsystemNames, subsystemOf } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'

const guide = readFileSync(new URL('../../../docs/guide/health.md', import.meta.url), 'utf8')

describe('the health guide', () => {
  it('has advice for every subsystem', () => {
    const sections = [...guide.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
    expect(sections).toEqual([...subsystemNames])
    for (const { cure, setUp } of subsystemNames.map(subsystemOf))
      for (const text of [cure, ...(setUp === undefined ? [] : [setUp])]) expect(text).toMatch(/^[A-Z].{20,360}\.$/)
  })
})
