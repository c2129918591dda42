/** Chance in drills and benchmarks, drawn from the seed that the run prints. */
import { createHash } from 'node:crypto'
import { createRandom, type Random } from '../cli/simulator/random.ts'

const variable = 'RIG_SEED'

let seed = Number(process.env[variable] ?? 1)
let sequences = new Map<string, Random>()

/** Sets the seed of a run; every sequence starts again. */
export const seedChance = (of: number): void => {
  seed = of
  sequences = new Map()
}

/** The environment by which a process that a run starts draws from the same seed. */
export const chanceEnv = (): Record<string, string> => ({ [variable]: String(seed) })

/**
 * The next number from 0 to below 1 of a sequence. Each place draws from a sequence of its own name, because what runs
 * beside it would otherwise change what it draws.
 */
export const chance = (sequence: string): number => {
  let random = sequences.get(sequence)
  if (random === undefined) {
    random = createRandom(createHash('sha256').update(`${seed} ${sequence}`).digest().readUInt32LE())
    sequences.set(sequence, random)
  }
  return random.next()
}
