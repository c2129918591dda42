// Invariant: Drills and benchmarks derive all randomness from the seed that they print.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { fromRoot } from './root.ts'
import { randomSeedEnv, seededRandom, seedRandom } from './seeded-random.ts'

afterEach(() => seedRandom(1))

const draw = (sequence: string): number[] => Array.from({ length: 5 }, () => seededRandom(sequence))

it('draws the same numbers for the same seed, whatever other sequences draw', () => {
  seedRandom(7)
  const first = draw('kills')
  expect(first.every((one) => one >= 0 && one < 1)).toBe(true)
  expect(new Set(first).size).toBe(5)
  seedRandom(7)
  draw('pauses')
  expect(draw('kills')).toEqual(first)
  seedRandom(8)
  expect(draw('kills')).not.toEqual(first)
})

it('passes its seed to child processes', () => {
  seedRandom(7)
  const script = `const { seededRandom } = await import(${JSON.stringify(fromRoot('proof/kit/seeded-random.ts'))})
    console.log(seededRandom('kills'))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { ...process.env, ...randomSeedEnv() },
  })
  expect(Number(stdout)).toBe(seededRandom('kills'))
})

it('is seeded by the command line of drills and gates', () => {
  const script = `const { runChecks } = await import(${JSON.stringify(fromRoot('proof/kit/run.ts'))})
    const { seededRandom } = await import(${JSON.stringify(fromRoot('proof/kit/seeded-random.ts'))})
    await runChecks('Drills', [{ name: 'D1', what: 'w', run: async () => ({ findings: [{ what: 'drawn', value: seededRandom('x'), atMost: 1 }] }) }])`
  const drawn = (seed: string): unknown => {
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script, '--', '--seed', seed], {
      encoding: 'utf8',
    })
    return JSON.parse(stdout.split('\n')[0] as string).drawn
  }
  expect(drawn('7')).toBe(drawn('7'))
  expect(drawn('7')).not.toBe(drawn('8'))
})

it('is the only source of randomness in benchmarks, drills and gates', () => {
  const files = readdirSync(fromRoot('proof'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name) && !name.includes('node_modules') && !name.endsWith('.test.ts'))
    .map((name) => join('proof', name))
  expect(files.length).toBeGreaterThan(100)
  // These two search the product for other sources of randomness.
  const others = files.filter((path) => path !== 'proof/attack/sources.ts' && path !== 'proof/attack/source/bans.ts')
  expect(others.filter((path) => readFileSync(fromRoot(path), 'utf8').includes('Math.random'))).toEqual([])
})
