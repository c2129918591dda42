/** Calls operations that need more than their example: settings, second factors, rollouts, files of hosts. */

import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { inventoryHash } from '@portcullis/domain'
import { type ReleaseKeyPair, rubberDucky } from '@portcullis/domain/testing'
import { agentPaths } from '@portcullis/features/contract.ts'
import { Secret, TOTP } from 'otpauth'
import type { Environment } from '../kit/environment.ts'
import type { Fixture } from '../kit/fixture.ts'
import { uploadLog } from '../kit/host.ts'
import { contractById } from '../kit/operations.ts'
import { adminPassword } from '../kit/server.ts'
import { callHosts } from './call-hosts.ts'
import { callSigned } from './call-signed.ts'
import { type Answer, type Caller, callerOf } from './caller.ts'
import { integrations, smtpAt } from './configuration.ts'

/** Polls until the value exists. Gives up after ten seconds and counts the operation as unreached. */
const until = async <T>(ask: () => Promise<T | undefined>): Promise<T | undefined> => {
  for (let tries = 0; tries < 50; tries++) {
    const found = await ask()
    if (found !== undefined) return found
    await pause(200)
  }
  return undefined
}

/** Changes settings while there is only one Administrator. Later, these changes need a second approver. */
export const callSettings = async (environment: Environment, releaseKey?: ReleaseKeyPair): Promise<void> => {
  const caller = callerOf(environment)
  const { get, post, put } = caller
  const config = (path: string, body: unknown): Promise<Answer> => post(`generalconfig/${path}`, body)
  const smtp = smtpAt(1)
  await config('AddOrUpdateSMPTConfig', smtp)
  await config('TestSMTP', { ...smtp, SMTP_TEST_RECIPIENT: 'gate@example.org' })
  for (const [name, settings] of Object.entries(integrations(() => 'a secret'))) {
    await config(`AddOrUpdate${name}`, settings)
    await config(`Test${name.replace(/Server|Provider/, '')}`, settings)
  }
  await config('AddOrUpdateBackup', { BACKUP_ENABLED: 'false', BACKUP_KEEP: '3' })
  await config('AddOrUpdateCustomLogin', { CUSTOM_LOGIN_TITLE: 'Gate' })
  await config('AddOrUpdateHealthThresholds', { VENDORA_HEALTH_DATABASE_WARNING_MS: '200' })
  await config('AddOrUpdateSecurity', { SECURITY_FACTOR_USERS: 'false' })
  await config('AddOrUpdateVendorA', { VENDORA_CHECKIN_SECONDS: '60' })
  await config('SetServerDomainName', { SERVER_DOMAIN_NAME: 'portcullis.example.org' })
  await post('Auth/Mfa/passkeys/start', { password: adminPassword })
  await post('auth/reauthenticate/passkey')
  await config('document', { settings: { VENDORA_CHECKIN_SECONDS: '90' }, tags: ['kiosk', 'canary', 'gate'] })
  await config('rollback/1', undefined)
  // After the rollback, which would switch it off.
  await config('AddOrUpdateISEServer', { ...integrations(() => 'a secret').ISEServer, ISE_ENABLED: 'true' })
  await config('SetServerDomainName', { SERVER_DOMAIN_NAME: '' })
  const gone = await environment.addHost('gate-gone')
  await callSigned(caller, environment, gone, releaseKey)
  await post('agents/deleteAgents', [gone.agentId])
  await environment.addWorker()
  const worker = await get('agents/agentless/workerpollerdetails')
  await put('agents/agentless/workerpollerdetails/activatedstatus', { id: worker.id, isActivated: true })
}

const callAccounts = async (
  { get, post, remove }: Caller,
  environment: Environment,
  fixture: Fixture,
): Promise<void> => {
  const { addPerson, signIn } = environment
  await post('auth/reauthenticate', { password: adminPassword })
  const { userName, password } = fixture.people.manager
  await post('auth/signin', { username: userName, password })
  const own = await addPerson('gate-tour', 30)
  const proof = { password: own.password }
  const { secret } = await post('Auth/Mfa/totp/start', proof, own.token)
  const { recoveryCodes } = await post(
    'Auth/Mfa/totp/confirm',
    { code: new TOTP({ secret: Secret.fromBase32(String(secret)) }).generate() },
    own.token,
  )
  const { mfaToken } = await post('Auth/LocalLogin', { userName: own.userName, password: own.password })
  const signedIn = await post('Auth/Mfa/signin', {
    mfaToken,
    recoveryCode: (recoveryCodes as string[] | undefined)?.[0],
  })
  const token = String(signedIn.token ?? own.token)
  await post('Auth/RefreshToken', { refreshToken: signedIn.refreshToken ?? own.refreshToken })
  await post('Auth/Mfa/recoverycodes', proof, token)
  await post('Auth/Mfa/totp/remove', proof, token)
  await post('admin/resetmfa', { userName: own.userName })
  await post('admin/updateuser', { userName: own.userName, firstName: 'Tour' })
  await post('admin/suspendaccount', { userName: own.userName })
  await post('admin/liftsuspension', { userName: own.userName })
  const made = await post('admin/apiTokens', { name: 'tour', userProfile: 30, scopes: ['fleet:read'] })
  await remove(`admin/apiTokens?id=${made.id}`)
  const { setPasswordUrl } = await post('admin/adduser', { userName: 'gate-link', userProfile: 30 })
  const [, linkToken] = /token=([\w-]+)/.exec(String(setPasswordUrl)) ?? []
  await post('Auth/SetPassword', { token: linkToken, newPassword: 'the password of gate-link' })
  const leaving = await addPerson('gate-leaving', 30)
  const other = await signIn(leaving.userName, leaving.password)
  const sessions = (await get('Auth/Sessions', other.token)) as unknown as { id: string; isCurrent?: boolean }[]
  const ended = Array.isArray(sessions) ? sessions.find(({ isCurrent }) => isCurrent !== true) : undefined
  if (ended !== undefined) await remove(`Auth/Sessions/${ended.id}`, other.token)
  await post('Auth/Logout', undefined, other.token)
}

const callFleet = async ({ get, post, put, remove }: Caller, fixture: Fixture): Promise<void> => {
  const [host, other] = fixture.hosts
  await post('agents/configuration', [{ uuid: other.agentId, agentConfigViewResource: { isSystemArmed: 'free' } }])
  const bulk = { uuids: [other.agentId], action: 'free' }
  await post('agents/bulk/preview', bulk)
  const { jobId } = await post('agents/bulk', bulk)
  await post(`jobs/${jobId}/cancel`)
  const place = { computerName: 'tour.example.org', port: 1, userName: 'inventory', password: 'inventory' }
  await post('agents/agentless/connectiondetails', place)
  await put('agents/agentless/connectiondetails', { ...place, port: 2 })
  const test = await post('agents/agentless/connectiondetails/test', place)
  await get(`agents/agentless/connectiondetails/test/${test.id ?? test.testId}`)
  await put('agents/agentless/workerpollerdetails', { defaults: { port: 22, userName: 'inventory' } })
  const devices = (await get('peripherals?PageSize=5')) as { data?: Record<string, unknown>[] }
  const [row] = devices.data ?? []
  await post('peripherals/command', {
    opCode: 'APPROVE',
    reason: 'gate',
    peripheralsIds: [{ uuid: row?.uuid, vid: row?.vid, pid: row?.pid, deviceID: row?.deviceID }],
  })
  await post('agents/fetchagentsdebuglogs', [host.agentId])
  await post('agents/enrollmenttokens', { name: 'gate', maxUses: 1 })
  await get('assetproducer/stream?follow=false&consumer=gate')
  await until(async () => {
    const { forgotten } = await remove('assetproducer/consumers/http/gate')
    return forgotten
  })
  await get('peripherals/suggestions?kind=model&text=a')
}

/** A host uploads its debug log and reports an attack tool. */
const callHost = async ({ get, post }: Caller, { wire }: Environment, { hosts: [host] }: Fixture): Promise<void> => {
  for (const id of await host.commands()) await uploadLog(wire, id, host.token, gzipSync('a line of the log'))
  const { debugLogs = [] } = (await get(`agents/agent/${host.agentId}`)) as { debugLogs?: { id: unknown }[] }
  await get(`agents/agent/${host.agentId}/debuglogs/${debugLogs[0]?.id}`)
  const devices = [host.device, rubberDucky({ portPath: '4-1' })]
  await wire.send({
    method: 'POST',
    path: agentPaths.checkIn,
    token: host.token,
    body: host.checkIn({ inventory: devices, inventoryHash: inventoryHash(devices) }),
  })
  const notice = await until(async () => {
    const notices = (await get('systemNotification/riskNotifications')) as unknown as { id: number }[]
    return Array.isArray(notices) ? notices[0] : undefined
  })
  if (notice === undefined) return
  const health = (await get('systemNotification/systemHealth')) as { items?: { id: number }[] }
  const id = health.items?.[0]?.id
  await post('systemNotification/systemHealth/pin', id)
  await post('systemNotification/systemHealth/dismiss', id)
  await get(`systemNotification/notices/${notice.id}`)
  await post('systemNotification/riskNotifications/pin', { id: notice.id, isPinned: true })
  const ids = [notice.id]
  await get('systemNotification/responseTimes')
  await post('systemNotification/notices/assign', { ids, owner: 'admin' })
  await post('systemNotification/notices/comment', { ids, comment: 'seen' })
  await post('systemNotification/notices/snooze', { ids, until: null })
  await post('systemNotification/notices/close', { ids, verdict: 'test' })
  await post('systemNotification/notices/reopen', { ids })
  await post('systemNotification/riskNotifications/dismiss', notice)
}

const callPolicy = async ({ post, put, remove }: Caller, fixture: Fixture): Promise<void> => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const device = { vid: '0781', pid: '5580', reason: 'gate' }
  const rule = { effect: 'allow', ...device }
  const grant = await post('policy/grants', { ...device, expiresAt })
  const grantId = grant.id ?? (grant.rule as Answer | undefined)?.id
  await put(`policy/grants/${grantId}`, { ...device, expiresAt, reason: 'gate again' })
  await remove(`policy/grants/${grantId}`)
  await put(`policy/rules/${fixture.others.rule}`, { ...rule, vid: '0781', pid: '5571', reason: 'gate again' })
  await post('policy/rules/import', { text: '0781:5571,gate', effect: 'allow', reason: 'gate', dryRun: true })
  const group = { name: 'gate', owner: 'gate', reviewOn: null }
  const { id: groupId } = await post('policy/groups', group)
  await put(`policy/groups/${groupId}`, { ...group, owner: 'gate again' })
  await post('policy/groups/rules', { ruleIds: [fixture.others.rule], group: 'gate' })
  await remove(`policy/groups/${groupId}`)
  const sample = {
    vid: '0781',
    pid: '5590',
    serial: '',
    kinds: ['Mass Storage'],
    fingerprint: null,
    isAttackTool: false,
  }
  const test = { ...sample, name: 'gate', expected: 'block', host: null, tag: null }
  const { id: testId } = await post('policy/tests', test)
  await put(`policy/tests/${testId}`, { ...test, name: 'gate again' })
  await remove(`policy/tests/${testId}`)
  await post('policy/preview', { add: [rule] })
  await post('policy/test', { draft: { add: [rule] } })
}

const callApprovals = async ({ get, post }: Caller, fixture: Fixture): Promise<void> => {
  for (const verdict of ['approve', 'reject']) {
    await post('generalconfig/AddOrUpdateSMPTConfig', { SMTP_FROM: `${verdict}@example.org` })
    const waiting = await get('policy/changerequests')
    const rows = (Array.isArray(waiting) ? waiting : ((waiting.data ?? []) as unknown[])) as Answer[]
    const open = rows.find((one) => one.state === undefined || /pending|open|waiting/i.test(String(one.state)))
    const { digest } = (await get(`policy/changerequests/${open?.id}/details`)) as Answer
    await get(`policy/changerequests/${open?.id}/file`)
    const body = verdict === 'approve' ? { digest } : undefined
    await post(`policy/changerequests/${open?.id}/${verdict}`, body, fixture.people.administrator.token)
  }
}

const callReports = async ({ get, post }: Caller, fixture: Fixture): Promise<void> => {
  const cadence = { every: 'day', time: '06:30', timeZone: 'UTC' }
  await post('reports/schedules', {
    ...(contractById.get('addReportSchedule')?.examples?.request as object),
    name: 'gate again',
  })
  await post('reports/preview', { list: 'agents', filter: {}, format: 'csv', cadence, range: 'day' })
  await post(`reports/schedules/${fixture.others.schedule}/run`)
  await until(async () => {
    const runs = (await get('reports/runs')) as { data?: { id: unknown; file?: unknown }[] }
    const [first] = Array.isArray(runs) ? (runs as { id: unknown }[]) : (runs.data ?? [])
    if (first === undefined) return undefined
    const file = await get(`reports/runs/${first.id}/file`)
    return file.status === 404 || file.status === 409 ? undefined : file
  })
}

const callRollouts = async ({ get, post }: Caller): Promise<void> => {
  const plan = { kind: 'arm', name: 'gate', rings: [{ name: 'all', sharePercent: 100 }], dwellMinutes: 60 }
  await post('rollouts/plan', plan)
  for (const orders of [['pause', 'resume', 'halt', 'revert'], ['cancel']]) {
    const { id } = await post('rollouts/start', plan)
    await get(`rollouts/${id}`)
    await get(`rollouts/${id}/hosts`)
    for (const order of orders) await post(`rollouts/${id}/${order}`)
    await post(`rollouts/${id}/cancel`)
  }
}

const callFeeds = async ({ get, post, put, remove }: Caller, { others }: Fixture): Promise<void> => {
  const event = { EventID: 6416, Computer: 'gate-feed', DeviceId: 'USB\\VID_0951&PID_1666\\60A44C3F' }
  await post(`ingest/feeds/${others.feed}`, event, others.feedToken.token)
  const { data } = await get('agents?DeploymentMode=Feed')
  await get(`ingest/feedhosts/${(data as { uuid: string }[] | undefined)?.[0]?.uuid}`)
  await put(`ingest/feeds/${others.feed}`, { keepDays: 31 })
  const { id } = await post('ingest/feeds', { name: 'to be deleted', tokenId: others.apiToken.id })
  await remove(`ingest/feeds/${id}`)
}

const callOutputs = async ({ post }: Caller): Promise<void> => {
  const syslog = { address: '127.0.0.1:1', protocol: 'tcp', format: 'rfc5424' }
  const set = (isEnabled: boolean) =>
    post('systemNotification/notifications/update', { id: 6, channels: { syslog: { isEnabled, ...syslog } } })
  await set(true)
  const output = { groupId: 6, channel: 'syslog' }
  await until(async () => {
    const { code } = await post('systemNotification/outputs/retry', output)
    return code === undefined ? true : undefined
  })
  await post('systemNotification/outputs/skip', output)
  await post('systemNotification/notifications/test', { id: 6, channel: 'syslog' })
  await set(false)
}

/** Calls all other operations after people, hosts and a worker exist. */
export const callAllOperations = async (environment: Environment, fixture: Fixture): Promise<void> => {
  const caller = callerOf(environment)
  await callFleet(caller, fixture)
  await callHost(caller, environment, fixture)
  await callHosts(caller, environment)
  await callPolicy(caller, fixture)
  await callApprovals(caller, fixture)
  await callReports(caller, fixture)
  await callRollouts(caller)
  await callFeeds(caller, fixture)
  await callOutputs(caller)
  await callAccounts(caller, environment, fixture)
}
