import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCommonPassword } from './common-passwords.ts'
import { signedInSource } from './limiters/fair-queue.ts'
import { createPasswords as createTurns, type PasswordCost } from './passwords.ts'

const createPasswords = (cost?: PasswordCost) => {
  const { turn } = createTurns(cost)
  return {
    hash: (password: string) => turn(signedInSource('a'), (work) => work.hash(password)),
    verify: (password: string, hash: string | null) => turn(signedInSource('a'), (work) => work.verify(password, hash)),
  }
}

const cheap = { memory: 64, passes: 1, parallelism: 1 }

describe('password hashes', () => {
  it('are argon2id of 19 MiB and two passes, salted, in PHC form', async () => {
    const { hash, verify } = createPasswords()
    const [one, two] = [await hash('correct horse battery'), await hash('correct horse battery')]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(two)
    expect(await verify('correct horse battery', one)).toBe(true)
    expect(await verify('correct horse batterY', one)).toBe(false)
  })

  it('match a hash of another implementation', async () => {
    // From the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
    const known = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await createPasswords(cheap).verify('password', known)).toBe(true)
  })

  it('match only the hashed password', async () => {
    const { hash, verify } = createPasswords(cheap)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 200 }), async (a, b) => {
        const hashed = await hash(a)
        expect(await verify(a, hashed)).toBe(true)
        expect(await verify(b, hashed)).toBe(a.normalize('NFC') === b.normalize('NFC'))
      }),
      { numRuns: 200 },
    )
  })

  it('never match a missing or malformed hash', async () => {
    const { verify } = createPasswords(cheap)
    for (const hash of [null, '', 'x', '$argon2id$v=19$m=1,t=1,p=1$$', '$2b$10$abcdefghijklmnopqrstuv'])
      expect(await verify('', hash)).toBe(false)
  })

  it('take the same work for an unknown name', async () => {
    const { hash, verify } = createPasswords()
    const hashed = await hash('correct horse battery')
    const median = async (given: string | null) => {
      const took: number[] = []
      for (let i = 0; i < 9; i++) {
        const startedAt = performance.now()
        await verify('wrong', given)
        took.push(performance.now() - startedAt)
      }
      return took.sort((a, b) => a - b)[4] as number
    }
    await median(null)
    const [known, unknown] = [await median(hashed), await median(null)]
    // A missing hash would take no time at all; on a busy machine the two differ by a few per cent.
    expect(unknown).toBeGreaterThan(known / 3)
    expect(unknown).toBeLessThan(known * 3)
  })
})

describe('common passwords', () => {
  it.each([
    'password1234',
    'PASSWORD1234',
    'Password123!',
    'passwordpassword',
    '123456789012',
    '1234567890123456',
    'qwertyuiop123',
    'qwertyuiopas',
    '1qaz2wsx3edc',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'administrator',
    'letmein12345',
    'iloveyou1234',
    'welcome12345',
    'correcthorsebatterystaple',
  ])('knows %s', (password) => expect(isCommonPassword(password)).toBe(true))

  it.each(['correct horse battery', 'Tr0ub4dor&3-and-more', 'vK9#mQ2$xL5w', 'a perfectly fine one'])(
    'accepts %s',
    (password) => expect(isCommonPassword(password)).toBe(false),
  )
})
