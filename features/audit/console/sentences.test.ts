import { describe, expect, it } from 'vitest'
import { auditActionCodes, auditAreas } from '#features/contract.ts'
import { actionNames, areaNames, sentences } from './sentences.ts'

const values = { who: 'WHO', what: 'WHAT', where: 'WHERE', tags: 'TAGS', entity: 'ENTITY', count: 2 }
const textOf = (key: string): string => {
  const sentence = (sentences as unknown as Record<string, string | ((given: unknown) => string) | undefined>)[key]
  return typeof sentence === 'function' ? sentence(values) : (sentence ?? '')
}

describe('the sentences of the audit trail', () => {
  it.each(auditActionCodes)('say %s in words, without codes', (code) => {
    expect(textOf(code)).toMatch(/^(WHO|WHAT|[A-Z])[^{}<>_]*$/)
    expect(textOf(code).split(' ').length).toBeGreaterThan(1)
    expect(textOf(code)).not.toMatch(/\w\.\w/)
    expect(actionNames[code]).toMatch(/^[A-Z][\w '-]+$/)
  })

  it('count refused sign-ins of one account', () => {
    const { 'session.refused': refused } = sentences as unknown as Record<string, (given: unknown) => string>
    expect([0, 1, 2].map((count) => refused?.({ entity: 'ana', count }))).toEqual([
      'Sign-in of ana was refused',
      'Sign-in of ana was refused',
      'Sign-in of ana was refused 2 times',
    ])
  })

  it('name a person or an object in each variant', () => {
    for (const key of Object.keys(sentences)) {
      expect(
        auditActionCodes.some((code) => key === code || key.startsWith(`${code}.`)),
        key,
      ).toBe(true)
      expect(textOf(key), key).not.toBe('')
    }
    expect(Object.keys(areaNames).toSorted()).toEqual([...auditAreas].toSorted())
  })
})
