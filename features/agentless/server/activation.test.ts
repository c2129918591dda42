// Invariant: A poll result counts once, only while its lease is the current one, and only from the activated
//   process that holds it.

import { agentlessBase, agentlessOf, ok, success } from '@portcullis/server/test/agentless.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Poll } from '#features/contract.ts'

let t: TestApp
let agentless: ReturnType<typeof agentlessOf>

beforeEach(async () => {
  t = await startTestApp({ listen: true })
  agentless = agentlessOf(t)
})
afterEach(() => t.close())

const fullToken = async () => {
  const admin = await t.admin()
  const { token } = ok(
    await admin.post('/prime/webui/admin/apiTokens', {
      name: 'automation',
      userProfile: 10,
      scopes: ['fleet:read', 'fleet:write', 'config:read', 'config:write'],
    }),
  )
  return t.as(token)
}

describe('a worker process', () => {
  it('gets no credentials through an API token, and a process that registers later needs another activation', async () => {
    const robot = await fullToken()
    const refused = await robot.post(`${agentlessBase}/workerpollerdetails/token`, undefined)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'session_required'])

    ok(
      await agentless.post('connectiondetails', {
        computerName: 'srv-1',
        userName: 'root',
        password: 'p',
        hostKeyFingerprint: `SHA256:${'k'.repeat(43)}`,
      }),
    )
    const first = await agentless.registerWorker()
    const { id } = await agentless.worker()
    const activation = await robot.put(`${agentlessBase}/workerpollerdetails/activatedstatus`, {
      id,
      isActivated: true,
    })
    expect([activation.statusCode, activation.json().code]).toEqual([403, 'session_required'])
    await agentless.activate()
    const later = await agentless.registerWorker({ waits: true })
    expect(await later.lease(4)).toMatchObject({ isActivated: false, polls: [] })
    expect((await agentless.worker()).pollers.map((one) => one.isActivated).sort()).toEqual([false, true])
    expect((await first.lease(4)).polls).toMatchObject([{ host: 'srv-1', password: 'p' }])
    await agentless.activate()
    expect(await later.lease(4)).toMatchObject({ isActivated: true })
  })

  it('stores only results of an activated process that holds the lease', async () => {
    const key = `SHA256:${'a'.repeat(43)}`
    ok(await agentless.post('connectiondetails', { computerName: 'lease-1', userName: 'u', password: 'p' }))
    const holder = await agentless.registerWorker()
    await agentless.activate()
    const stranger = await agentless.registerWorker({ waits: true })
    const shown = async () =>
      ok(await (await t.admin()).get(`${agentlessBase}/connectiondetails?ComputerName=lease-1`)).data[0].hostKeyTrust
    const test = ok(await agentless.post('connectiondetails/test', { computerName: 'lease-1' }))
    const { polls } = await holder.lease(50)
    const poll = polls.find((one) => !one.isTest && one.host === 'lease-1') as Poll
    const tried = polls.find((one) => one.id === test.id) as Poll
    const forged = [poll, tried].map((one) => ({ ...success(one), hostKeyFingerprint: key }))
    const stale = { stored: [], stale: [poll.id, tried.id] }
    expect((await stranger.results(forged)).body).toEqual(stale)
    // An activated process cannot answer for another one either.
    await agentless.activate()
    expect((await stranger.results(forged)).body).toEqual(stale)
    expect(await shown()).toBe('None')
    expect(ok(await (await t.admin()).get(`${agentlessBase}/connectiondetails/test/${test.id}`)).state).toBe('running')
    expect((await holder.results(forged)).body).toMatchObject({ stored: [poll.id] })
    expect(await shown()).toBe('FirstUse')
    expect(ok(await (await t.admin()).get(`${agentlessBase}/connectiondetails/test/${test.id}`)).state).toBe('done')
  })

  it('never sends the default password to a computer that an API token or a stale session added', async () => {
    ok(
      await agentless.put('workerpollerdetails', {
        defaults: { userName: 'poller', password: 'the default password' },
      }),
    )
    const hostKeyFingerprint = `SHA256:${'e'.repeat(43)}`
    const robot = await fullToken()
    ok(await robot.post(`${agentlessBase}/connectiondetails`, { computerName: 'by-token', hostKeyFingerprint }))
    const explicit = { computerName: 'by-token-2', hostKeyFingerprint, isConfirmed: true }
    expect((await robot.post(`${agentlessBase}/connectiondetails`, explicit)).json().code).toBe('session_required')
    const stale = t.as(await t.signIn('admin', adminPassword))
    t.clock.advance(6 * 60_000)
    ok(await stale.post(`${agentlessBase}/connectiondetails`, { computerName: 'by-stale', hostKeyFingerprint }))
    const refused = await stale.post(`${agentlessBase}/connectiondetails`, { ...explicit, computerName: 'by-stale-2' })
    expect(refused.json().code).toBe('reauthentication_required')
    ok(await agentless.post('connectiondetails', { computerName: 'by-admin', hostKeyFingerprint }))

    const w = await agentless.registerWorker()
    await agentless.activate()
    const passwords = Object.fromEntries((await w.lease(50)).polls.map((poll) => [poll.host, poll.password]))
    expect(passwords).toMatchObject({ 'by-token': null, 'by-stale': null, 'by-admin': 'the default password' })
  })

  it('gets no default password for a host key that was confirmed for own credentials or another port', async () => {
    ok(
      await agentless.put('workerpollerdetails', {
        defaults: { userName: 'poller', password: 'the default password' },
      }),
    )
    const key = `SHA256:${'e'.repeat(43)}`
    const robot = await fullToken()
    const details = `${agentlessBase}/connectiondetails`
    const own = { userName: 'x', password: 'mine', hostKeyFingerprint: key }
    ok(await robot.post(details, { computerName: 'by-token', ...own }))
    ok(await robot.put(details, { computerName: 'by-token', isOverrideDefaults: false }))
    ok(await agentless.post('connectiondetails', { computerName: 'by-admin', hostKeyFingerprint: key }))
    ok(await robot.put(details, { computerName: 'by-admin', port: 2222 }))
    const trust = async () =>
      ok(await (await t.admin()).get(`${details}?ComputerName=by-`)).data.map(
        (one: { hostKeyTrust: string }) => one.hostKeyTrust,
      )
    expect(await trust()).toEqual(['FirstUse', 'FirstUse'])

    // Confirming the computers compares no host key.
    for (const computerName of ['by-token', 'by-admin'])
      ok(await agentless.put('connectiondetails', { computerName, isConfirmed: true }))
    const w = await agentless.registerWorker()
    await agentless.activate()
    const leased = async () =>
      Object.fromEntries((await w.lease(50)).polls.map(({ host, password }) => [host, password] as const))
    expect(await leased()).toEqual({ 'by-token': null, 'by-admin': null })
    const hosts = ['by-token', 'by-admin'].map((computerName) => ({ computerName, hostKeyFingerprint: key }))
    ok(await agentless.post('connectiondetails/confirmhostkeys', { hosts }))
    expect(await trust()).toEqual(['Confirmed', 'Confirmed'])
  })

  it('is activated by a second approver after two Administrators have existed', async () => {
    const second = (await person(t, { profile: 10 })).api
    const w = await agentless.registerWorker()
    const { id } = await agentless.worker()
    const asked = await (await t.admin()).put(`${agentlessBase}/workerpollerdetails/activatedstatus`, {
      id,
      isActivated: true,
    })
    expect([asked.statusCode, asked.json().code]).toEqual([403, 'second_person_required'])
    expect((await w.lease(1)).isActivated).toBe(false)
    const waiting = ok(await second.get('/prime/webui/policy/changerequests')).data[0]
    expect(waiting.title).toContain('worker-1')
    ok(await approveRequest(second, waiting.id))
    expect((await w.lease(1)).isActivated).toBe(true)
  })
})
