import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from './app-error.ts'

/** Work of one hash: memory in KiB, passes, lanes. */
export interface PasswordCost {
  memory: number
  passes: number
  parallelism: number
}

/** The second choice of the OWASP cheat sheet: 19 MiB, 2 passes, 1 lane; about 30 ms of one core. */
const defaultCost: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 }

/** 2 at once: the thread pool has 4 threads, and name look-ups and files need some of them. */
const atOnce = 2
/** Waiting ones beyond this are told to come back: 200 × 30 ms / 2 is 3 s of queue. */
const waitingLimit = 200

interface Parsed {
  cost: PasswordCost
  salt: Buffer
  hash: Buffer
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

const parse = (text: string): Parsed | null => {
  const m = phc.exec(text)
  if (m === null) return null
  return {
    cost: { memory: Number(m[1]), passes: Number(m[2]), parallelism: Number(m[3]) },
    salt: Buffer.from(m[4] as string, 'base64'),
    hash: Buffer.from(m[5] as string, 'base64'),
  }
}

const derive = (password: string, salt: Buffer, cost: PasswordCost, length: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      // NFC: the same keys give the same password on every keyboard driver.
      { message: password.normalize('NFC'), nonce: salt, tagLength: length, ...cost },
      (error, result) => (error === null ? resolve(Buffer.from(result)) : reject(error)),
    )
  })

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/={1,2}$/, '')

export type Passwords = ReturnType<typeof createPasswords>

/** Hashing of passwords: argon2id in PHC form, never more than two at once. */
export const createPasswords = (cost: PasswordCost = defaultCost) => {
  let running = 0
  const waiting: (() => void)[] = []

  const hashNow = async (password: string): Promise<string> => {
    const salt = randomBytes(16)
    const hash = await derive(password, salt, cost, 32)
    return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(salt)}$${base64(hash)}`
  }
  let dummy: Promise<string> | undefined

  return {
    /** Runs `work` when its turn has come; `hash` and `verify` belong inside. Refuses with 503 when too many wait. */
    turn: async <T>(work: () => Promise<T>): Promise<T> => {
      if (running >= atOnce) {
        if (waiting.length >= waitingLimit) throw new AppError('unavailable', {}, { headers: { 'retry-after': '3' } })
        // The one that ends hands its place over, so `running` stays as it is.
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else running++
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },

    hash: hashNow,

    /**
     * Whether the password is the hashed one. Without a hash (no such account, or none set yet) the same work is done on
     * a hash of nothing, so that the time tells nothing.
     */
    verify: async (password: string, hash: string | null): Promise<boolean> => {
      dummy ??= hashNow(randomBytes(32).toString('hex'))
      const parsed = parse(hash ?? (await dummy)) ?? (parse(await dummy) as Parsed)
      const given = await derive(password, parsed.salt, parsed.cost, parsed.hash.length)
      return timingSafeEqual(given, parsed.hash) && hash !== null && parse(hash) !== null
    },

    /** Makes the hash of nothing now, so that the first unknown name is not slower than the next. */
    warm: async (): Promise<void> => {
      dummy ??= hashNow(randomBytes(32).toString('hex'))
      await dummy
    },
  }
}
