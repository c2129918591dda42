import { plainMouse, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'

const stick = storageStick({ portPath: '1-2' })
const mouse = plainMouse({ portPath: '1-3' })

describe('an armed host', () => {
  it('blocks new devices unless a rule allows them, reports why, and restores the old state when freed', async () => {
    const { peer, tree, arm, free, reported } = await startHost({
      rules: [rule({ id: 'mice', effect: 'allow', kinds: ['Mouse', 'Keyboard'] })],
    })
    expect(peer.seen.enforcement[0]).toEqual({ mode: 'Free', policyVersion: 0, reason: '', held: [] })
    expect(await arm()).toMatchObject({ outcome: 'confirmed', message: '' })
    expect(tree.read('usb1', 'authorized_default')).toBe('0')
    tree.plug(mouse)
    tree.plug(stick)
    await until('mouse authorised', () => tree.isAuthorized('1-3'))
    await until('both reported', () => peer.only().devices.size === 2 && reported('1-3')?.authorized === true)
    expect(tree.isAuthorized('1-2')).toBe(false)
    expect(reported('1-3')?.enforced).toEqual({ effect: 'allow', source: 'global', ruleId: 'mice', policyVersion: 1 })
    expect(reported('1-2')).toMatchObject({
      authorized: false,
      enforced: { effect: 'block', source: 'default', ruleId: null, policyVersion: 1 },
    })
    expect(peer.seen.enforcement.at(-1)).toEqual({ mode: 'Armed', policyVersion: 1, reason: '', held: [] })
    expect(await free()).toMatchObject({ outcome: 'confirmed' })
    expect(tree.read('usb1', 'authorized_default')).toBe('1')
    expect(tree.isAuthorized('1-2')).toBe(true)
    await until('reported', () => reported('1-2')?.authorized === true)
    expect(reported('1-2')?.enforced).toBeUndefined()
    tree.plug(storageStick({ portPath: '1-4' }))
    expect(tree.isAuthorized('1-4')).toBe(true)
  })
})
