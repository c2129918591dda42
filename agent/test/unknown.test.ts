// Invariant: A host that its server does not know changes nothing. Only a revocation signed for that host frees it.

import { readFileSync } from 'node:fs'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { startHost } from './enforcing.ts'
import { startAgent, statusOf, until } from './harness.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

/** Starts an armed host that its server no longer knows, with a function that restores it on the server. */
const forgotten = async () => {
  const host = await startHost({ devices: [keyboard] })
  await host.arm()
  const remember = host.peer.forget()
  /** Waits until the agent has asked again twice. */
  const asked = async () => {
    const before = host.peer.seen.sessions.length
    await until('asked again', () => host.peer.seen.sessions.length >= before + 2)
  }
  await asked()
  return { host, remember, asked }
}

describe('an agent that its server does not know', { timeout: 60_000 }, () => {
  it('stays armed under its last policy, reports it, asks again over a restart, and continues when it is known', async () => {
    const { host, remember, asked } = await forgotten()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('0')
    await host.stop()
    host.begin()
    await asked()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('0')
    host.tree.plug(stick)
    await until('blocked', () => readFileSync(host.path('enforcement.json'), 'utf8').includes('1-2'))
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    const status = statusOf(host.args)
    expect(status).toMatch(/warning +the server does not know this agent since 2/)
    expect(status).toMatch(/state +unknown to the server/)
    remember()
    await until('reported', () => host.peer.only().devices.get('1-2')?.enforced?.effect === 'block')
    await until('mark gone', () => !readFileSync(host.path('identity.json'), 'utf8').includes('unknownSince'))
    expect(host.peer.seen.enrols).toHaveLength(1)
    expect(host.peer.seen.enforcement.at(-1)?.mode).toBe('Armed')
  })

  it('is enrolled again by a fresh token with a new key, but not by the old token', async () => {
    const { host } = await forgotten()
    await host.stop()
    host.peer.useToken('pce_2_fresh')
    startAgent(host.args.map((arg) => (arg === host.peer.token ? 'pce_2_fresh' : arg)))
    await until('enrolled again', () => host.peer.agents.size === 1 && host.peer.seen.enrols.length === 2)
    await until('free', () => host.tree.read('usb1', 'authorized_default') === '1')
    const [first, second] = host.peer.seen.enrols
    expect(second?.publicKey).not.toBe(first?.publicKey)
  })
})
