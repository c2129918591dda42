// Invariant: No replica accepts a revoked credential after a second.

import { createHmac } from 'node:crypto'
import { agentPaths, workerPaths } from '@portcullis/contract'
import { loadKeys } from '../../platform/server/keys.ts'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { registerWorker } from '../kit/host.ts'
import { sendRaw } from '../kit/raw.ts'
import type { Check, Outcome } from '../kit/verdict.ts'
import { forEachOf, type Got, jsonOf, type Sent, type Wire } from '../kit/wire.ts'
import { flipped, forgeries } from './forgeries.ts'

/** Time within which a revocation must reach every replica. */
const revokedWithinMs = 1_000

const poll = { free: 0, capacity: 1, running: [], version: '1', cpu: 0 }

interface Ledger {
  tried: number
  taken: string[]
  late: string[]
  slowestMs: number
  revocations: number
}

const isTaken = ({ status }: Got): boolean => status < 400 && status > 0

const tryForged = async (environment: Environment, ledger: Ledger): Promise<void> => {
  const { wire, admin, keyFile, addPerson, addHost, addWorker, call } = environment
  const key = loadKeys(keyFile).derive('access-token').reveal()
  const victim = await addPerson('gate-victim', 10)
  const host = await addHost('gate-forged')
  const enrolled = await call('POST', `${api}/agents/enrollmenttokens`, { name: 'public', maxUses: 1 }, admin.token)
  const refused = async (what: string, sent: Sent): Promise<void> => {
    ledger.tried++
    const got = await wire.send(sent)
    if (got.status !== 401) ledger.taken.push(`${what}: ${got.status} ${got.text.slice(0, 120)}`)
  }
  const profile = { method: 'GET', path: `${api}/admin/profile` }
  // A correct token made by the same code must be accepted. Otherwise the refusals below prove nothing.
  const [header, claims] = victim.token.split('.') as [string, string]
  const right = `${header}.${claims}.${createHmac('sha256', key).update(`${header}.${claims}`).digest('base64url')}`
  if (!isTaken(await wire.send({ ...profile, token: right }))) ledger.taken.push('a correct token was refused')

  const publicKey = JSON.stringify(loadKeys(keyFile).command.newest().publicKey) + String(enrolled.id)
  for (const { what, token } of forgeries(victim.token, key, publicKey)) await refused(what, { ...profile, token })
  const apiToken = String(
    (await call('POST', `${api}/admin/apiTokens`, { name: 'gate', userProfile: 10 }, admin.token)).token,
  )
  const workerKey = await addWorker()
  const changed = [
    ...flipped(victim.token).map((f) => ({ ...f, what: `access token, ${f.what}`, sent: profile })),
    ...flipped(apiToken).map((f) => ({ ...f, what: `API token, ${f.what}`, sent: profile })),
    ...flipped(host.token).map((f) => ({
      ...f,
      what: `session of a host, ${f.what}`,
      sent: { method: 'POST', path: agentPaths.checkIn, body: host.checkIn() },
    })),
    ...flipped(workerKey).map((f) => ({
      ...f,
      what: `key of a worker, ${f.what}`,
      sent: { method: 'POST', path: workerPaths.lease, body: poll },
    })),
  ]
  await forEachOf(changed, 8, async ({ what, sent, token }) => refused(what, { ...sent, token }))
  await forEachOf(flipped(victim.refreshToken), 8, async ({ what, token }) =>
    refused(`refresh token, ${what}`, {
      method: 'POST',
      path: `${api}/Auth/RefreshToken`,
      body: { refreshToken: token },
    }),
  )

  // Valid tokens in places where the server must ignore them.
  const places: readonly [string, Sent][] = [
    ['in the query', { method: 'GET', path: `${api}/admin/profile?_access_token=${victim.token}` }],
    ['as a ticket', { method: 'GET', path: `${api}/admin/profile?_ticket=${victim.token}` }],
    ['in a cookie', { ...profile, headers: { cookie: `token=${victim.token}; access_token=${victim.token}` } }],
    ['as Basic', { ...profile, headers: { authorization: `Basic ${victim.token}` } }],
    ['named twice', { ...profile, headers: { authorization: `Bearer Bearer ${victim.token}` } }],
    ['followed by another token', { ...profile, headers: { authorization: `Bearer ${victim.token}, Bearer x` } }],
    ['without Bearer', { ...profile, headers: { authorization: victim.token } }],
    ['in another header', { ...profile, headers: { 'x-access-token': victim.token, 'x-auth-token': victim.token } }],
    ['refresh token as access token', { ...profile, token: victim.refreshToken }],
    ['session of a host as access token', { ...profile, token: host.token }],
    ['key of a worker as access token', { ...profile, token: workerKey }],
    [
      'access token at a check-in',
      { method: 'POST', path: agentPaths.checkIn, token: victim.token, body: host.checkIn() },
    ],
    [
      'access token at the policy of a host',
      { method: 'POST', path: agentPaths.policy, token: victim.token, body: { nonce: 'n'.repeat(32) } },
    ],
    ['access token at the worker', { method: 'POST', path: workerPaths.lease, token: victim.token, body: poll }],
    ['session of a host at the worker', { method: 'POST', path: workerPaths.lease, token: host.token, body: poll }],
    [
      'key of a worker at a check-in',
      { method: 'POST', path: agentPaths.checkIn, token: workerKey, body: host.checkIn() },
    ],
  ]
  for (const [what, sent] of places) await refused(what, sent)

  // Only a session token opens a wake socket.
  for (const [what, token, due] of [
    ['no token', '', 401],
    ['an access token', victim.token, 401],
    ['an API token', apiToken, 401],
    ['the key of a worker', workerKey, 401],
    ['a session', host.token, 101],
  ] as const) {
    ledger.tried++
    const { status } = await sendRaw(
      environment.server.url,
      `GET ${agentPaths.wake} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n${token === '' ? '' : `authorization: Bearer ${token}\r\n`}\r\n`,
    )
    if (status !== due) ledger.taken.push(`wake socket with ${what}: ${status} instead of ${due}`)
  }

  // A ticket is valid for a single GET.
  const ticket = async (): Promise<string> =>
    String((await call('POST', `${api}/Auth/Ticket`, undefined, victim.token)).ticket)
  const once = await ticket()
  const path = `${api}/agents?_ticket=${once}`
  if (!isTaken(await wire.send({ method: 'GET', path }))) ledger.taken.push('a new ticket was refused')
  await refused('a ticket used twice', { method: 'GET', path })
  await refused('a ticket on a POST', {
    method: 'POST',
    path: `${api}/assetproducer/ReplayAll?_ticket=${await ticket()}`,
  })
  await refused('a ticket at the live stream', { method: 'GET', path: `${api}/live?_ticket=${await ticket()}` })
}

/** Repeats a request on a replica until it is refused. */
const refusedAfter = async (wire: Wire, sent: Sent): Promise<number> => {
  const startedAt = performance.now()
  for (;;) {
    const { status } = await wire.send(sent)
    const ms = performance.now() - startedAt
    if (status === 401 || status === 403 || ms > 10 * revokedWithinMs) return ms
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Checks that revoking a credential on one replica also revokes it on the other. */
const tryRevoked = async (environment: Environment, ledger: Ledger): Promise<void> => {
  const { wires, admin, addPerson, addHost, call, workerToken } = environment
  const [first, second] = wires as [Wire, Wire]
  const profile = (token: string): Sent => ({ method: 'GET', path: `${api}/admin/profile`, token })
  const manage = (token: string): Sent => ({
    method: 'GET',
    path: `${api}/events/GetAuditsIntegration?PageSize=1`,
    token,
  })
  const asAdmin = (method: string, path: string, body?: unknown) => () =>
    call(method, `${api}/${path}`, body, admin.token)

  const revoked = async (what: string, sent: Sent, end: () => Promise<unknown>): Promise<void> => {
    for (const wire of [first, second])
      if (!isTaken(await wire.send(sent))) ledger.late.push(`${what}: was not accepted before the revocation`)
    await end()
    for (const [i, wire] of [first, second].entries()) {
      ledger.revocations++
      const ms = await refusedAfter(wire, sent)
      ledger.slowestMs = Math.max(ledger.slowestMs, Math.round(ms))
      if (ms > revokedWithinMs)
        ledger.late.push(`${what}: was accepted on replica ${i + 1} for another ${Math.round(ms)} ms`)
    }
  }
  const person = (name: string, profileNumber: 10 | 20 | 30 = 30) => addPerson(`gate-${name}`, profileNumber)

  const disabled = await person('disabled')
  await revoked(
    'disabled account',
    profile(disabled.token),
    asAdmin('POST', 'admin/updateuser', { userName: disabled.userName, isEnabled: false }),
  )
  const deleted = await person('deleted')
  await revoked('deleted account', profile(deleted.token), asAdmin('POST', 'admin/deleteUsers', [deleted.userName]))
  const demoted = await person('demoted', 20)
  await revoked(
    'demoted account',
    manage(demoted.token),
    asAdmin('POST', 'admin/updateuser', { userName: demoted.userName, userProfile: 30 }),
  )
  const changing = await person('changing')
  await revoked('changed password', profile(changing.token), () =>
    call(
      'POST',
      `${api}/admin/updateuserdetails`,
      { oldPassword: changing.password, newPassword: 'another password of theirs' },
      changing.token,
    ),
  )
  const leaving = await person('leaving')
  await revoked('signed out', profile(leaving.token), () =>
    call('POST', `${api}/Auth/Logout`, undefined, leaving.token),
  )
  const reset = await person('reset')
  await revoked(
    'password set by an Administrator',
    profile(reset.token),
    asAdmin('POST', 'admin/updateuser', { userName: reset.userName, password: 'set by an administrator' }),
  )

  const owner = await person('owner', 20)
  const tokenOf = async () => {
    const made = await call('POST', `${api}/admin/apiTokens`, { name: 'gate' }, owner.token)
    return { id: String(made.id), token: String(made.token) }
  }
  const single = await tokenOf()
  await revoked('revoked API token', manage(single.token), () =>
    call('DELETE', `${api}/admin/apiTokens/${single.id}`, undefined, owner.token),
  )
  const lowered = await tokenOf()
  await revoked(
    'API token of a demoted account',
    manage(lowered.token),
    asAdmin('POST', 'admin/updateuser', { userName: owner.userName, userProfile: 30 }),
  )
  const orphan = await tokenOf().catch(async () => {
    await environment.renew(owner)
    return tokenOf()
  })
  await revoked(
    'API token of a disabled account',
    profile(orphan.token),
    asAdmin('POST', 'admin/updateuser', { userName: owner.userName, isEnabled: false }),
  )

  const host = await addHost('gate-removed')
  await revoked(
    'removed host',
    { method: 'POST', path: agentPaths.policy, token: host.token, body: { nonce: 'bm9uY2Utb2YtMzItY2hhcmFjdGVycw' } },
    asAdmin('POST', 'agents/deleteAgents', [host.agentId]),
  )
  const key = await registerWorker(first, await workerToken())
  await revoked(
    'removed worker',
    { method: 'POST', path: workerPaths.lease, token: key, body: poll },
    asAdmin('DELETE', 'agents/agentless/workerpollerdetails'),
  )

  // A reused refresh token counts as stolen: its session ends, including the thief's new token.
  const robbed = await person('robbed')
  const refresh = async () =>
    first.send({ method: 'POST', path: `${api}/Auth/RefreshToken`, body: { refreshToken: robbed.refreshToken } })
  const fresh = jsonOf((await refresh()).text) as { token?: string }
  await revoked('session of a refresh token that was used twice', profile(String(fresh.token)), refresh)
}

export const tokens: Check = {
  name: 'tokens',
  what: 'Sends forged access tokens, tokens with each character changed, tokens in places where they are not valid, and keys of hosts and workers on routes for people and vice versa. With two replicas, ending a credential on one ends it on both within a second.',
  run: async ({ root }): Promise<Outcome> =>
    withEnvironment({ root, replicas: 2 }, async (environment) => {
      const ledger: Ledger = { tried: 0, taken: [], late: [], slowestMs: 0, revocations: 0 }
      await tryForged(environment, ledger)
      await tryRevoked(environment, ledger)
      return {
        findings: [
          { what: 'forged or misplaced credentials', value: ledger.tried, atLeast: 300 },
          { what: 'not answered 401', value: ledger.taken.length, atMost: 0 },
          { what: 'revocations, on each of two replicas', value: ledger.revocations, atLeast: 20 },
          { what: 'slowest revocation', value: ledger.slowestMs, unit: 'ms', atMost: revokedWithinMs },
          { what: 'revocations that were late', value: ledger.late.length, atMost: 0 },
          { what: 'server ended', value: environment.servers.every((server) => server.isRunning()) ? 0 : 1, atMost: 0 },
        ],
        notes: [...ledger.taken.slice(0, 15), ...ledger.late],
      }
    }),
}
