import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bundledAgent, macosMain } from './processes.ts'

it('contains no schemas, which would double the memory of its code', () => {
  const script = readFileSync(bundledAgent(null), 'utf8')
  expect([script.includes('typebox'), script.length < 400_000]).toEqual([false, true])
})

it('contains the code of one platform', () => {
  const [macos, linux] = [bundledAgent(null, macosMain), bundledAgent(null)].map((path) => readFileSync(path, 'utf8'))
  expect([macos, linux].map((script) => script?.includes('system_profiler'))).toEqual([true, false])
  expect([macos?.includes('typebox'), (macos?.length ?? 0) < 500_000]).toEqual([false, true])
})
