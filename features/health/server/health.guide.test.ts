import { readFileSync } from 'node:fs'
import { subsystemGuide, subsystemNames } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'

const guide = readFileSync(new URL('../../../docs/guide/health.md', import.meta.url), 'utf8')

describe('the health guide', () => {
  it('has advice for every subsystem', () => {
    const sections = [...guide.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
    expect(sections).toEqual([...subsystemNames])
    expect(Object.keys(subsystemGuide).sort()).toEqual([...subsystemNames].sort())
    for (const { cure, setUp } of Object.values(subsystemGuide))
      for (const text of [cure, ...(setUp === undefined ? [] : [setUp])]) expect(text).toMatch(/^[A-Z].{20,360}\.$/)
  })
})
