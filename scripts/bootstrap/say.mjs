import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of the checkout that contains this bootstrap. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** An error with one sentence for the person at the terminal. */
export class Refusal extends Error {}

/** Reports what is being installed or built. Uses stderr, because stdout belongs to the command (`simulate --json`). */
export const say = (text) => process.stderr.write(`portcullis: ${text}\n`)
