/** Random numbers for drills and benchmarks, drawn from the seed that the run prints. */
import { createHash } from 'node:crypto'
import { createRandom, type Random } from '../../cli/simulator/random.ts'

const variable = 'PROOF_SEED'

let seed = Number(process.env[variable] ?? 1)
let sequences = new Map<string, Random>()

/** Sets the seed of a run and restarts every sequence. */
export const seedRandom = (of: number): void => {
  seed = of
  sequences = new Map()
}

/** Returns the environment with which a child process draws from the same seed. */
export const randomSeedEnv = (): Record<string, string> => ({ [variable]: String(seed) })

/**
 * Returns the next number of a sequence, from 0 to below 1. Each caller uses a separate sequence, because concurrent
 * draws would otherwise change its numbers.
 */
export const seededRandom = (sequence: string): number => {
  let random = sequences.get(sequence)
  if (random === undefined) {
    random = createRandom(createHash('sha256').update(`${seed} ${sequence}`).digest().readUInt32LE())
    sequences.set(sequence, random)
  }
  return random.next()
}
