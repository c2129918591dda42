// Invariant: Operations that affect the whole fleet or its secrets need a session whose user authenticated within
//   five minutes; API tokens cannot call them.

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { rubberDucky } from '@portcullis/domain/testing'
import { knowledgeProofText } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import type { TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { rolloutsOf, takeAll } from '@portcullis/server/test/rollouts.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyOperation } from '../../contract/operation.ts'
import { permissionsOf } from '../../contract/permissions.ts'

/**
 * Lists every operation that people may call and that changes something, in one of these two tables. A new one belongs
 * in `fleetMoving` if it affects the whole fleet or its secrets in any way, with requests that do so.
 */

type Method = 'POST' | 'PUT' | 'DELETE'
interface Request {
  method?: Method
  path: string
  payload?: unknown
}

const base = '/prime/webui'
const challenge = 'Bearer error="insufficient_user_authentication", max_age=300'
const absent = '01936f2a-7c11-7abc-8def-0123456789ab'

let t: TestApp
let agents: TestAgent[]
let rolloutId: string
/** A waiting backup. */
let backupJobId: string
let manager: Person
let user: Person
let ops: Person
/** An Administrator's API token with all scopes. */
let apiToken: string
/** Tokens of the Manager. */
let tokenIds: string[]
let ruleId: string
let grantId: string
let grantEnd: string
/** Version of the policy that deleted a rule for an attack tool. */
let deletedAt: number
/** The session of an Administrator who has just signed in. */
let fresh: string
/** The session of an Administrator who entered the password six minutes ago; renewed since. */
let stale: string

/** A knowledge file without attack tools, signed with a key of the attacker. */
const knowledge = (() => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const payload = JSON.stringify({
    format: 'portcullis-knowledge-1',
    version: '2099.1.1',
    createdAt: '2031-05-01T00:00:00Z',
    files: { attackTools: [] },
  })
  const der = publicKey.export({ type: 'spki', format: 'der' })
  const file = {
    format: 'portcullis-signed-knowledge-1',
    payload,
    publicKey: der.toString('base64'),
    signature: sign(null, Buffer.from(knowledgeProofText(payload)), privateKey).toString('base64'),
  }
  return { file, fingerprint: createHash('sha256').update(der).digest('hex') }
})()

const uuids = () => agents.map((agent) => agent.agentId)
const ldap = { LDAP_USER_GROUP: 'cn=everyone,dc=example,dc=org' }
const limits = ['0', '100']
const many = Array.from({ length: 51 }, (_, i) => i + 1)

/** Requests that affect the whole fleet or its secrets, by operation. */
const fleetMoving: Readonly<Record<string, () => Request[]>> = {
  publishPackage: () => [{ path: 'agents/packages' }],
  withdrawPackage: () => [{ method: 'DELETE', path: `agents/packages/${absent}` }],
  updateAgents: () => [{ path: 'agents/updateAgents', payload: uuids() }],
  agentsConfiguration: () => [
    {
      path: 'agents/configuration',
      payload: uuids().map((uuid) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } })),
    },
  ],
  runBulk: () =>
    ['update', 'free', 'delete'].map((action) => ({ path: 'agents/bulk', payload: { action, uuids: uuids() } })),
  deleteAgents: () => [{ path: 'agents/deleteAgents', payload: uuids() }],
  startRollout: () =>
    ['update', 'arm'].map((kind) => ({
      path: 'rollouts/start',
      payload: { kind, name: 'all at once', rings: [{ name: 'all', sharePercent: 100 }] },
    })),
  resumeRollout: () => [{ path: `rollouts/${rolloutId}/resume` }],
  revertRollout: () => [{ path: `rollouts/${rolloutId}/revert` }],
  // A feed decides which hosts the lists show.
  createFeed: () => [{ path: 'ingest/feeds', payload: { name: 'of the thief', tokenId: tokenIds[0] } }],
  updateFeed: () => [{ method: 'PUT', path: `ingest/feeds/${absent}`, payload: { keepDays: 1 } }],
  deleteFeed: () => [{ method: 'DELETE', path: `ingest/feeds/${absent}` }],
  rejectChangeRequest: () => [{ path: `policy/changerequests/${absent}/reject` }],
  approveChangeRequest: () => [
    { path: `policy/changerequests/${absent}/approve`, payload: { digest: '0'.repeat(64) } },
  ],
  addUser: () =>
    [10, 20].map((userProfile) => ({
      path: 'admin/adduser',
      payload: { userName: `new-${userProfile}`, userProfile },
    })),
  updateUser: () => [
    ...[
      { userProfile: 30 },
      { password: 'a password of the thief' },
      { isEnabled: false },
      { mustChangePassword: true },
      { email: 'thief@example.org' },
    ].map((change) => ({ path: 'admin/updateuser', payload: { userName: manager.userName, ...change } })),
    { path: 'admin/updateuser', payload: { userName: 'admin', password: 'a password of the thief' } },
    { path: 'admin/updateuser', payload: { userName: ops.userName, password: 'a password of the thief' } },
    { path: 'admin/updateuser', payload: { userName: user.userName, userProfile: 20 } },
  ],
  updateUserDetails: () => [{ path: 'admin/updateuserdetails', payload: { email: 'thief@example.org' } }],
  deleteUsers: () => [{ path: 'admin/deleteUsers', payload: [user.userName, manager.userName] }],
  resetMfa: () => [{ path: 'admin/resetmfa', payload: { userName: manager.userName } }],
  suspendAccount: () => [{ path: 'admin/suspendaccount', payload: { userName: manager.userName } }],
  liftSuspension: () => [{ path: 'admin/liftsuspension', payload: { userName: manager.userName } }],
  // Otherwise a thief could prevent every backup before destroying data.
  cancelJob: () => [{ path: `jobs/${backupJobId}/cancel` }],
  // A person decides about a device that lied about itself.
  releaseHeldPort: () => [{ path: `heldPorts/${uuids()[0]}/${absent}/release`, payload: { acceptDrivers: true } }],
  // Nobody sees what is closed as harmless.
  closeAlerts: () =>
    ['benign', 'false'].map((verdict) => ({
      path: 'systemNotification/notices/close',
      payload: { ids: many, verdict },
    })),
  closeFindings: () =>
    ['benign', 'false'].map((verdict) => ({ path: 'findings/close', payload: { ids: many, verdict } })),
  // Without its finding, a device may work wherever rules allow it.
  acceptFinding: () => [
    { path: 'policy/acceptedFindings', payload: { uuid: uuids()[0], deviceID: 'none', reason: 'test' } },
  ],
  createApiToken: () => [
    { path: 'admin/apiTokens', payload: { name: 'own profile' } },
    { path: 'admin/apiTokens', payload: { name: 'lower', userProfile: 20 } },
  ],
  deleteApiToken: () => [{ method: 'DELETE', path: `admin/apiTokens/${tokenIds[0]}` }],
  deleteApiTokenByQuery: () => [{ method: 'DELETE', path: `admin/apiTokens?id=${tokenIds[1]}` }],
  addOrUpdateLdap: () => [{ path: 'generalconfig/AddOrUpdateLDAPServer', payload: ldap }],
  addOrUpdateSecurity: () => [
    { path: 'generalconfig/AddOrUpdateSecurity', payload: { SECURITY_FACTOR_GRACE_DAYS: '90' } },
  ],
  addOrUpdateOidc: () => [{ path: 'generalconfig/AddOrUpdateOIDCProvider', payload: { OIDC_USER_GROUP: 'everyone' } }],
  addOrUpdateSmtp: () => [
    { path: 'generalconfig/AddOrUpdateSMPTConfig', payload: { SMTP_HOST: 'mail.thief.example' } },
  ],
  addOrUpdateBackup: () => [{ path: 'generalconfig/AddOrUpdateBackup', payload: { BACKUP_KEEP: '1' } }],
  removeSmtpPassword: () => [{ path: 'generalconfig/RemoveSmtpPassword' }],
  setServerDomainName: () => [
    { path: 'generalconfig/SetServerDomainName', payload: { SERVER_DOMAIN_NAME: 'elsewhere.example.org' } },
  ],
  addOrUpdateVendorA: () =>
    [...limits.map((limit) => ({ VENDORA_TWO_PERSON_LIMIT: limit })), { VENDORA_WINDOWS_ENFORCEMENT: 'true' }].map(
      (payload) => ({ path: 'generalconfig/AddOrUpdateVendorA', payload }),
    ),
  updatePolicySettings: () =>
    [null, 100].map((twoPersonHosts) => ({
      method: 'PUT',
      path: 'policy/settings',
      payload: { twoPersonHosts, grantMaxHours: 24, commandHours: 24, contact: '' },
    })),
  configRollback: () =>
    ['', '?prefix=LDAP', '?prefix=VENDORA'].map((query) => ({ path: `generalconfig/rollback/0${query}` })),
  applyConfigDocument: () => [
    { path: 'generalconfig/document', payload: { settings: ldap } },
    { path: 'generalconfig/document', payload: { settings: { SERVER_DOMAIN_NAME: 'elsewhere.example.org' } } },
    {
      path: 'generalconfig/document',
      payload: { settings: { SMTP_HOST: 'mail.thief.example', SMTP_FROM: 'p@thief.example' } },
    },
    { path: 'generalconfig/document', payload: { settings: { SECURITY_FACTOR_GRACE_DAYS: '90' } } },
    ...limits.map((limit) => ({
      path: 'generalconfig/document',
      payload: { settings: { VENDORA_TWO_PERSON_LIMIT: limit } },
    })),
  ],
  // Defines what counts as an attack tool, and who receives stored credentials.
  uploadKnowledge: () => [{ path: 'admin/knowledge', payload: { ...knowledge.file, trust: knowledge.fingerprint } }],
  applyKnowledge: () => [{ path: 'admin/knowledge/apply', payload: { id: absent } }],
  rollbackKnowledge: () => [{ path: 'admin/knowledge/rollback' }],
  createWorkerToken: () => [{ path: 'agents/agentless/workerpollerdetails/token' }],
  activateWorker: () => [
    {
      method: 'PUT',
      path: 'agents/agentless/workerpollerdetails/activatedstatus',
      payload: { id: absent, isActivated: true },
    },
  ],
  // Lifts the limit of armed hosts of an unverified build.
  importWindowsVerification: () => [
    { path: 'windows/verifications', payload: { file: { payload: '{}', signature: 'A'.repeat(88) }, confirmed: [] } },
  ],
  removeWindowsVerification: () => [{ method: 'DELETE', path: 'windows/verifications/22631' }],
  rotateKeys: () => [{ path: 'generalconfig/RotateKeys' }],
}

/** Operations that change something else: stale sessions and tokens may call them. */
const ordinary = new Set([
  // The caller's own session, account and factors; changes of factors ask for the password themselves.
  ...[
    'reauthenticate',
    'startReauthentication',
    'startOidcReauthentication',
    'logout',
    'createTicket',
    'deleteSession',
  ],
  ...['startTotp', 'confirmTotp', 'removeTotp', 'startPasskey', 'finishPasskey', 'removePasskey', 'renewRecoveryCodes'],
  // Requires more than before.
  'endApprovalLift',
  // Hosts: commands that enforce more, or that the next command undoes.
  ...['deleteAgentsCommands', 'fetchAgentsDebugLogs', 'previewBulk', 'createEnrollmentToken'],
  // Needs the token, which enrols hosts as well.
  'createWindowsInstaller',
  ...['deleteEnrollmentToken', 'planRollout', 'pauseRollout', 'haltRollout', 'cancelRollout'],
  // Rules: measured and gated by what they newly allow.
  ...['createPolicyRule', 'updatePolicyRule', 'deletePolicyRule', 'createPolicyGrant', 'updatePolicyGrant'],
  ...[
    'deletePolicyGrant',
    'restorePolicy',
    'undoPolicyVersion',
    'importPolicyRules',
    'createRuleTest',
    'updateRuleTest',
    'deleteRuleTest',
    // No decision changes.
    ...['createRuleGroup', 'updateRuleGroup', 'deleteRuleGroup', 'moveRules'],
    'undoPolicyJob',
    'decideDevices',
    // It only blocks more.
    'revokeAcceptedFinding',
    // Deletes one host; the limit of deleteAgents counts it.
    'decideDuplicate',
    'previewPolicy',
    'previewTags',
    'testPolicyDraft',
    'peripheralsCommand',
  ],
  // A backup contains no key; cron makes it with a token. The folder of a started backup is in the settings.
  ...['createBackup', 'runBackup'],
  // Settings that do not concern signing in.
  ...['addOrUpdateIse', 'addOrUpdateCact', 'addOrUpdateLogin'],
  ...['addOrUpdateHealth', 'addOrUpdateLicense', 'testCact', 'testIse', 'testLdap', 'testOidc', 'testSmtp'],
  ...['testDomainName', 'testNotificationChannel'],
  // Only the token of a feed can send to it.
  'ingestFeed',
  // Tags, notifications, quarantines, agentless hosts, assets, reports, exports.
  ...['addHashtags', 'deleteHashtags', 'importTags', 'updateNotificationGroup', 'dismissHealthNotice'],
  ...[
    'dismissRiskNotice',
    'pinHealthNotice',
    'pinRiskNotice',
    'assignAlerts',
    'snoozeAlerts',
    'reopenFindings',
    'saveView',
    'updateView',
    'deleteView',
    'pinView',
    'updateHostOwner',
    'reopenAlerts',
    'commentAlerts',
    'muteAlert',
    'endAlertMute',
    'readHealthNotices',
    'readRiskNotices',
  ],
  ...['retryDeliveries', 'dropDeliveries', 'retryEventOutput', 'skipEventOutput'],
  ...['quarantineHosts', 'approveQuarantines', 'clearQuarantines', 'dismissQuarantines'],
  ...['addConnections', 'updateConnection', 'deleteConnections', 'registerConnections', 'unregisterConnections'],
  ...['testConnection', 'confirmHostKeys', 'uploadConnections', 'deleteWorker'],
  ...['updateWorkerDefaults', 'replayAll', 'sendMonitorOldLocation', 'forgetAssetConsumer'],
  ...['addReportSchedule', 'updateReportSchedule', 'deleteReportSchedule', 'runReportSchedule', 'previewReport'],
  ...['exportReport', 'exportAgentCsv', 'exportAgentPdf', 'exportAgentlessCsv', 'exportAgentlessPdf'],
  ...['exportCsvConnections', 'exportEventsCsv', 'exportEventsPdf', 'exportPeripheralsCsv', 'exportPeripheralsPdf'],
  ...['peripheralsAggExport', 'peripheralsAggExportPdf'],
])

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const rollouts = rolloutsOf(t)
  agents = (await rollouts.fleet(3, 0)).canary
  rolloutId = (await rollouts.start({ name: 'Kiosks' })).id
  await takeAll(agents)
  await rollouts.advance(rolloutId)
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  expect((await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 2 })).statusCode).toBe(200)
  const saved = await admin.post(`${base}/generalconfig/AddOrUpdateLDAPServer`, { LDAP_BASE_DN: 'dc=example,dc=org' })
  expect(saved.statusCode, saved.body).toBe(200)
  backupJobId = await waitingBackup()
  await prepareRules()
  await prepareDevices()
  manager = await person(t, { profile: 20 })
  user = await person(t)
  ops = await person(t, { profile: 10 })
  const made = await admin.post(`${base}/admin/apiTokens`, {
    name: 'automation',
    userProfile: 10,
    scopes: permissionsOf(10),
  })
  expect(made.statusCode, made.body).toBe(200)
  apiToken = made.json().token
  const tokens = ['one', 'two'].map((name) => manager.api.post(`${base}/admin/apiTokens`, { name }))
  tokenIds = (await Promise.all(tokens)).map((answer) => answer.json().id)
  const { refreshToken } = (
    await t.as(undefined).post(`${base}/Auth/LocalLogin`, { username: ops.userName, password: ops.password })
  ).json()
  t.clock.advance(6 * 60_000)
  fresh = (await person(t, { profile: 10 })).token
  stale = (await t.as(undefined).post(`${base}/Auth/RefreshToken`, { refreshToken })).json().token
})
afterAll(() => t.close())

/** Adds a rule and a grant, and deletes a rule for an attack tool. */
const prepareRules = async () => {
  const admin = await t.admin()
  const add = async (payload: object) => (await admin.post(`${base}/policy/rules`, payload)).json()
  const model = { effect: 'allow', vid: '0781', pid: '5581', reason: 'test', host: uuids()[0] }
  grantEnd = new Date(t.clock.now() + 3_600_000).toISOString()
  ruleId = (await add(model)).rule.id
  grantId = (await add({ ...model, isGrant: true, expiresAt: grantEnd })).rule.id
  const { id } = (await add({ ...model, ...attackTool })).rule
  deletedAt = (await admin.delete(`${base}/policy/rules/${id}`)).json().version
}

/** Attaches an attack tool, and adds a connection with the default credentials. */
const prepareDevices = async () => {
  await agents[0]?.plug(rubberDucky({ portPath: '1-5' }))
  const added = await (await t.admin()).post(`${base}/${details}`, { computerName: 'old.example.org' })
  expect(added.statusCode, added.body).toBe(200)
}

/** Adds a job that no server runs. Returns its id. */
const waitingBackup = () =>
  t.db.withClient(async (client) => {
    const { rows } = await client.query(`
      insert into jobs (job_id, kind, title, state, data, created_by, created_at, can_cancel, is_due)
      values (gen_random_uuid(), 'backup', 'Backup', 'running', '{}', 'system', now(), true, false)
      returning job_id`)
    return rows[0].job_id as string
  })

const send = (token: string, { method = 'POST', path, payload }: Request) =>
  t.request({
    method,
    url: `${base}/${path}`,
    headers: {
      authorization: `Bearer ${token}`,
      // Otherwise, some operations answer with plain text.
      accept: 'application/json',
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  })

/** Tables that any call may touch: they record the last use of a credential. */
const touched = new Set(['sessions', 'api_tokens', 'session_refresh_tokens'])

/** Returns one hash over all rows of all tables. */
const contents = () =>
  t.db.withClient(async (client) => {
    const tables = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1")
    const hashes: string[] = []
    for (const { tablename } of tables.rows as { tablename: string }[])
      if (!touched.has(tablename)) {
        const { rows } = await client.query(
          `select md5(coalesce(string_agg(x::text, '|' order by x::text), '')) as hash from ${tablename} x`,
        )
        hashes.push(`${tablename} ${rows[0].hash}`)
      }
    return hashes
  })

const people = (operations: readonly AnyOperation[]): AnyOperation[] =>
  operations.filter(({ permission }) => permission !== 'public' && permission !== 'agent')

const details = 'agents/agentless/connectiondetails'
const attackTool = { ...{ vid: '03EB', pid: '2401' }, reason: 'test', overrideAttackTool: true }

/** Requests for attack tools or default credentials. Other requests to these operations need no fresh authentication. */
const freshForSome: Readonly<Record<string, () => Request[]>> = {
  createPolicyRule: () => [{ path: 'policy/rules', payload: { effect: 'allow', ...attackTool } }],
  updatePolicyRule: () => [
    { method: 'PUT', path: `policy/rules/${ruleId}`, payload: { effect: 'allow', ...attackTool } },
  ],
  createPolicyGrant: () => [{ path: 'policy/grants', payload: { ...attackTool, expiresAt: grantEnd } }],
  updatePolicyGrant: () => [
    { method: 'PUT', path: `policy/grants/${grantId}`, payload: { ...attackTool, expiresAt: grantEnd } },
  ],
  undoPolicyVersion: () => [{ path: `policy/history/${deletedAt}/undo`, payload: {} }],
  restorePolicy: () => [{ path: 'policy/restore', payload: { version: deletedAt - 1 } }],
  decideDevices: () => [
    {
      path: 'policy/decisions',
      payload: {
        decision: 'allow',
        devices: [{ uuid: uuids()[0], vid: '03EB', pid: '2401' }],
        reason: 'test',
        overrideAttackTool: true,
      },
    },
  ],
  peripheralsCommand: () => [
    {
      path: 'peripherals/command',
      payload: {
        opCode: 'APPROVE',
        peripheralsIds: [{ uuid: uuids()[0], vid: '03EB', pid: '2401' }],
        reason: 'test',
        overrideAttackTool: true,
      },
    },
  ],
  addConnections: () => [{ path: details, payload: { computerName: 'new.example.org', isConfirmed: true } }],
  updateConnection: () => [
    { method: 'PUT', path: details, payload: { computerName: 'old.example.org', isConfirmed: true } },
  ],
  confirmHostKeys: () => [
    {
      path: `${details}/confirmhostkeys`,
      payload: { hosts: [{ computerName: 'old.example.org', hostKeyFingerprint: `SHA256:${'k'.repeat(43)}` }] },
    },
  ],
}

const gated = { ...freshForSome, ...fleetMoving }

describe('operations that affect the whole fleet or its secrets', () => {
  it('are all listed in this test, as the contract declares them', () => {
    const changing = people(t.app.operations).filter(({ method }) => method !== 'GET')
    const known = changing.map(({ id }) => id).sort()
    expect([...Object.keys(fleetMoving), ...ordinary].sort()).toEqual(known)
    expect(
      people(t.app.operations)
        .filter(({ fresh }) => fresh !== undefined)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Object.keys(gated).sort())
  })

  it.each(Object.keys(gated))('%s refuses API tokens and stale sessions and changes nothing', async (id) => {
    const before = await contents()
    for (const request of gated[id as keyof typeof gated]?.() ?? []) {
      const what = JSON.stringify(request)
      const byToken = await send(apiToken, request)
      expect([byToken.statusCode, byToken.json().code], what).toEqual([403, 'session_required'])
      const byStale = await send(stale, request)
      expect([byStale.statusCode, byStale.json().code], what).toEqual([401, 'reauthentication_required'])
      expect(byStale.headers['www-authenticate'], what).toBe(challenge)
    }
    expect(await contents()).toEqual(before)
  })

  it.each(Object.keys(gated))('%s accepts a fresh session', async (id) => {
    for (const request of gated[id as keyof typeof gated]?.() ?? []) {
      const answer = await send(fresh, request)
      const isJson = String(answer.headers['content-type']).includes('json')
      const code = isJson ? answer.json().code : ''
      const isRefused = ['session_required', 'reauthentication_required', 'unauthorized'].includes(code)
      expect(isRefused, `${JSON.stringify(request)}: ${answer.body}`).toBe(false)
    }
  })
})

describe('freeing hosts while one Administrator decides alone', () => {
  it('needs fresh authentication above the limit, even in small steps', async () => {
    await t.close()
    t = await startTestApp({ listen: true })
    const hosts = (await rolloutsOf(t).fleet(3, 0)).canary.map((agent) => agent.agentId)
    const admin = await t.admin()
    const { settings } = (await admin.get(`${base}/policy`)).json()
    expect((await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 2 })).statusCode).toBe(200)
    const scopes = permissionsOf(10)
    const { token } = (await admin.post(`${base}/admin/apiTokens`, { name: 'alone', userProfile: 10, scopes })).json()
    const old = await t.signIn()
    t.clock.advance(6 * 60_000)
    const free = async (by: string, some: readonly string[]): Promise<string> => {
      const payload = some.map((uuid) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } }))
      const answer = await send(by, { path: 'agents/configuration', payload })
      return answer.statusCode === 200 ? 'freed' : answer.json().code
    }
    expect(await free(token, hosts)).toBe('session_required')
    expect(await free(old, hosts)).toBe('reauthentication_required')
    expect(await free(old, hosts.slice(0, 1))).toBe('freed')
    expect(await free(token, hosts.slice(1, 2))).toBe('freed')
    expect(await free(old, hosts.slice(2))).toBe('reauthentication_required')
    expect(await free(token, hosts.slice(2))).toBe('session_required')
    expect(await free(await t.signIn(), hosts)).toBe('freed')
  })
})
