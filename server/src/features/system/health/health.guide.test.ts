import { readFileSync } from 'node:fs'
import { subsystemGuide, subsystemNames } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'

const guide = readFileSync(new URL('../../../../../docs/guide/health.md', import.meta.url), 'utf8')

describe('what to do', () => {
  it('is said of every part, in a sentence or two and in the guide', () => {
    const sections = [...guide.matchAll(/^### (.+)$/gm)].map(([, title]) => title)
    expect(sections).toEqual([...subsystemNames])
    expect(Object.keys(subsystemGuide).sort()).toEqual([...subsystemNames].sort())
    for (const { cure, setUp } of Object.values(subsystemGuide))
      for (const text of [cure, ...(setUp === undefined ? [] : [setUp])]) expect(text).toMatch(/^[A-Z].{20,360}\.$/)
  })
})
