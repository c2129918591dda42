import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEnvelope } from './envelope.ts'
import { Secret } from './secret.ts'

const envelope = createEnvelope(new Secret(randomBytes(32)))

describe('a sealed secret', () => {
  it('comes back as it was, and no two boxes are alike', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        const box = envelope.seal(new Secret(text), place)
        expect(envelope.open(box, place).reveal()).toBe(text)
        expect(envelope.seal(new Secret(text), place).equals(box)).toBe(false)
      }),
    )
  })

  it('opens at its own place only, by its own key only, and unchanged only', () => {
    const box = envelope.seal(new Secret('hunter2'), 'connection 1 password')
    expect(box.includes('hunter2')).toBe(false)
    expect(() => envelope.open(box, 'connection 2 password')).toThrow()
    expect(() => createEnvelope(new Secret(randomBytes(32))).open(box, 'connection 1 password')).toThrow()
    for (let at = 0; at < box.length; at++) {
      const changed = Buffer.from(box)
      changed[at] = (changed[at] as number) ^ 1
      expect(() => envelope.open(changed, 'connection 1 password'), String(at)).toThrow()
    }
    expect(() => envelope.open(Buffer.alloc(0), 'x')).toThrow()
  })
})
