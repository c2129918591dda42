import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEnvelope } from './envelope.ts'
import { loadKeys, type SealingKeys } from './keys.ts'
import { Secret } from './secret.ts'

const keyring = (...keys: Secret<Buffer>[]): Pick<SealingKeys, 'current' | 'byId'> => ({
  current: () => ({ id: keys.length - 1, key: keys.at(-1) as Secret<Buffer> }),
  byId: (id) => keys[id],
})
const key = (): Secret<Buffer> => new Secret(randomBytes(32))
const envelope = createEnvelope(keyring(key()))

describe('a sealed secret', () => {
  it('is returned unchanged, and no two ciphertexts are equal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        const box = envelope.seal(new Secret(text), place)
        expect(envelope.open(box, place).reveal()).toBe(text)
        expect(envelope.seal(new Secret(text), place).equals(box)).toBe(false)
      }),
    )
  })

  it('opens only in its own context, with its own key, and unchanged', () => {
    const box = envelope.seal(new Secret('hunter2'), 'connection 1 password')
    expect(box.includes('hunter2')).toBe(false)
    expect(() => envelope.open(box, 'connection 2 password')).toThrow()
    expect(() => createEnvelope(keyring(key())).open(box, 'connection 1 password')).toThrow()
    for (let at = 0; at < box.length; at++) {
      const changed = Buffer.from(box)
      changed[at] = (changed[at] as number) ^ 1
      expect(() => envelope.open(changed, 'connection 1 password'), String(at)).toThrow()
    }
    expect(() => envelope.open(Buffer.alloc(0), 'x')).toThrow()
  })

  it('is wrapped again with a new key on every replica, and then opens without the old one', () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
    try {
      const [one, two] = [loadKeys(join(dir, 'key')), loadKeys(join(dir, 'key'))]
      const [first, second] = [createEnvelope(one.sealing), createEnvelope(two.sealing)]
      const box = first.seal(new Secret('hunter2'), 'a')
      expect([first.rewrap(box, 'a'), one.sealing.current().id]).toEqual([null, 0])
      expect(one.sealing.add().id).toBe(1)
      // The other replica seals with it at once.
      expect([two.sealing.current().id, second.rewrap(second.seal(new Secret('x'), 'a'), 'a')]).toEqual([1, null])
      const again = first.rewrap(box, 'a') as Buffer
      expect(() => first.rewrap(box, 'b')).toThrow()
      expect([first.rewrap(again, 'a'), second.open(again, 'a').reveal(), second.open(box, 'a').reveal()]).toEqual([
        null,
        'hunter2',
        'hunter2',
      ])
      one.sealing.forgetBefore(1)
      expect(first.open(again, 'a').reveal()).toBe('hunter2')
      expect(() => createEnvelope(loadKeys(join(dir, 'key')).sealing).open(box, 'a')).toThrow(/not in the key file/)
      expect(loadKeys(join(dir, 'key')).sealing.add().id).toBe(2)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
