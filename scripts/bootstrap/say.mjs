import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout this bootstrap belongs to. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** A reason not to go on, in one sentence for the person at the terminal. */
export class Refusal extends Error {}

/** Says aloud what is being installed or built. On stderr: stdout belongs to the verb (`simulate --json`). */
export const say = (text) => process.stderr.write(`portcullis: ${text}\n`)
