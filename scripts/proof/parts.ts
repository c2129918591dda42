/** All parts of the proof. Each part runs independently. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { alone, ofFleet } from '../../bench/benchmarks.ts'
import { drills } from '../../drill/drills.ts'
import { gates } from '../../gate/gates.ts'
import type { Check } from '../../rig/verdict.ts'
import { deviceSets } from './devices.ts'

export type Page = 'bench' | 'drill' | 'gate' | 'self-test' | 'devices'

export interface Part {
  name: string
  page: Page
  /** Program and arguments, without the seed and the result file. */
  program: string
  args: string[]
  /** Names of the results of a finished run. */
  expected: string[]
  /** True if the part has a short form. */
  hasShortForm: boolean
}

export const fleetSizes = [10_000, 100_000, 1_000_000] as const

/** Measures device recognition. */
const devicesProgram = 'scripts/measure-devices.ts'

const ofChecks = (page: 'drill' | 'gate', checks: readonly Check[]): Part[] =>
  checks.map(({ name }) => ({
    name: `${page}/${name}`,
    page,
    program: `${page}/main.ts`,
    args: [name],
    expected: [name],
    hasShortForm: true,
  }))

const selfTests = (page: 'drill' | 'gate', checks: readonly Check[]): Part[] =>
  checks.map(({ name }) => ({
    name: `self-test/${page}/${name}`,
    page: 'self-test',
    program: `${page}/main.ts`,
    args: [name, '--self-test'],
    expected: [name],
    hasShortForm: false,
  }))

const bench = (name: string, args: string[], expected: string[]): Part => ({
  name: `bench/${name}`,
  page: 'bench',
  program: 'bench/main.ts',
  args,
  expected,
  hasShortForm: true,
})

/** All parts, in run order. */
export const parts: readonly Part[] = [
  ...ofChecks('gate', gates),
  ...ofChecks('drill', drills),
  ...fleetSizes.map((size) => {
    const names = Object.keys(ofFleet)
    return bench(String(size), [...names, '--agents', String(size)], ['load', ...names])
  }),
  ...Object.keys(alone).map((name) => bench(name, [name], [name])),
  {
    name: 'devices',
    page: 'devices',
    program: devicesProgram,
    args: [],
    expected: deviceSets,
    hasShortForm: false,
  },
  ...selfTests('gate', gates),
  ...selfTests('drill', drills),
]

/** Finds parts by name or by name prefix, such as `drill` or `self-test/gate`. */
export const partsNamed = (names: readonly string[]): { found: Part[]; unknown: string[] } => {
  const isNamed = (part: Part, name: string): boolean => part.name === name || part.name.startsWith(`${name}/`)
  return {
    found: names.length === 0 ? [...parts] : parts.filter((part) => names.some((name) => isNamed(part, name))),
    unknown: names.filter((name) => !parts.some((part) => isNamed(part, name))),
  }
}

/** Formats the command as a person types it. */
export const commandOf = ({ program, args }: Part, form: 'full' | 'short', seed: number): string => {
  if (program === devicesProgram) return `node ${program} --json`
  const verb = program.split('/')[0]
  return `npm run ${verb} -- ${[...args, ...(form === 'short' ? ['--quick'] : []), '--seed', String(seed)].join(' ')}`
}

/** Returns the reason why a part cannot run in this checkout; undefined if it can. */
export const whyNotRun = ({ program }: Part, root: string): string | undefined =>
  existsSync(join(root, program)) ? undefined : `${program} does not exist in this checkout`
