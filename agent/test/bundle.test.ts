import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bundledAgent } from './processes.ts'

it('contains no schemas, which would double the memory of its code', () => {
  const script = readFileSync(bundledAgent(null), 'utf8')
  expect([script.includes('typebox'), script.length < 400_000]).toEqual([false, true])
})
