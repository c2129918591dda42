import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { mustExist } from '@portcullis/domain'
import { AppError } from './app-error.ts'
import { createFairQueue, type Source } from './limiters/fair-queue.ts'

/** Cost of one hash: memory in KiB, passes, lanes. */
export interface PasswordCost {
  memory: number
  passes: number
  parallelism: number
}

/** The second choice of the OWASP cheat sheet: 19 MiB, 2 passes, 1 lane; about 30 ms of one core. */
const defaultCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 }

/**
 * Limits hashing to 2 at once: the thread pool has 4 threads, and name look-ups and files need some. Unknown
 * callers may use 1, so they can cost the server at most one core. 200 of them wait 200 × 30 ms = 6 s.
 */
const queue = { atOnce: 2, strangersAtOnce: 1, waiting: 200, perKey: 100 } as const

interface Parsed {
  cost: PasswordCost
  salt: Buffer
  hash: Buffer
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

const parse = (text: string): Parsed | null => {
  const [whole, memory, passes, parallelism, salt = '', hash = ''] = phc.exec(text) ?? []
  if (whole === undefined) return null
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

const derive = (password: string, salt: Buffer, cost: PasswordCost, length: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      // NFC, so that the same keys give the same password with every keyboard driver.
      { message: password.normalize('NFC'), nonce: salt, tagLength: length, ...cost },
      (error, result) => (error === null ? resolve(Buffer.from(result)) : reject(error)),
    )
  })

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/={1,2}$/, '')

export type Passwords = ReturnType<typeof createPasswords>

/** Operations within a turn, the only way to hash. */
export interface PasswordWork {
  hash(password: string): Promise<string>
  /**
   * Returns whether the password matches the hash. Without a hash (no such account, or no password set), it does the
   * same work on a dummy hash. The time then does not reveal which names exist.
   */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** Hashes passwords: argon2id in PHC form, in the turns of one fair queue. */
export const createPasswords = (cost: PasswordCost = defaultCost) => {
  const { turn } = createFairQueue({
    ...queue,
    refusal: () => new AppError('unavailable', {}, { headers: { 'retry-after': '3' } }),
  })

  async function hash(password: string): Promise<string> {
    const salt = randomBytes(16)
    const derived = await derive(password, salt, cost, 32)
    return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(derived)}`
  }
  let dummy: Promise<string> | undefined

  const verify: PasswordWork['verify'] = async (password, given) => {
    dummy ??= hash(randomBytes(32).toString('hex'))
    const parsed = parse(given ?? (await dummy)) ?? mustExist(parse(await dummy), 'the dummy hash')
    const derived = await derive(password, parsed.salt, parsed.cost, parsed.hash.length)
    return timingSafeEqual(derived, parsed.hash) && given !== null && parse(given) !== null
  }

  return {
    /**
     * Runs `work` in its turn. Returns 503 if too many wait. Do not nest turns: the inner one could wait for the outer.
     */
    turn: <T>(source: Source, work: (passwords: PasswordWork) => Promise<T>): Promise<T> =>
      turn(source, () => work({ hash, verify })),

    /** Computes the dummy hash now, so that the first unknown name is not slower than the next. */
    warm: async (): Promise<void> => {
      dummy ??= hash(randomBytes(32).toString('hex'))
      await dummy
    },
  }
}
