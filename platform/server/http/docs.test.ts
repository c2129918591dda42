import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-paths.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorTable } from '../../contract/errors.ts'
import type { JsonSchema } from './openapi-schema.ts'
import type { OpenApiDocument } from './openapi-types.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

describe('GET /openapi.json', () => {
  it('describes every operation of the server, to anyone', async () => {
    const answer = await t.as(undefined).get('/openapi.json')
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    const document = answer.json() as OpenApiDocument
    expect(document.openapi).toBe('3.1.0')
    for (const { path, method, id } of t.app.operations)
      expect(document.paths[path]?.[method.toLowerCase()]?.operationId, path).toBe(id)
    expect(document.paths[agentPaths.checkIn]?.post?.security).toEqual([{ agentSession: [] }])
    const upload = document.paths['/prime/webui/generalconfig/importtags']?.post
    expect(Object.keys(upload?.requestBody?.content ?? {})).toEqual(['multipart/form-data'])
    expect(document.paths['/prime/webui/generalconfig/exporttags']?.get?.responses['200']).toMatchObject({
      content: { 'text/csv': { schema: { type: 'string', format: 'binary' } } },
    })
    expect(document.paths['/prime/webui/auth/signin']?.post?.security).toEqual([])
  })

  it('names components like the resources of the specification, wherever it uses them', async () => {
    const document = (await t.as(undefined).get('/openapi.json')).json() as OpenApiDocument
    const [admin, agents, config, notices] = ['admin', 'agents', 'generalconfig', 'systemNotification']
    const uses = [
      ['get', `${admin}/all`, '200', 'AccountViewResource'],
      ['get', `${admin}/getuserdetails`, '200', 'AccountViewResource'],
      ['post', `${admin}/adduser`, 'body', 'AccountViewResource'],
      ['post', `${admin}/updateuser`, 'body', 'AccountViewResource'],
      ['post', `${admin}/updateuserdetails`, 'body', 'MyAccountUpdateResource'],
      ['get', agents, '200', 'AgentsViewDataWrapper'],
      ['post', `${agents}/configuration`, 'body', 'AgentPendingConfigurationWrapper'],
      ['get', `${agents}/errorTotal`, '200', 'AgentsErrorDataWrapper'],
      ['get', `${agents}/agentless/connectiondetailsstatus`, '200', 'AgentslessRsStatusGetResponse'],
      ['post', `${agents}/agentless/connectiondetails`, 'body', 'AgentlessRsConnectionDetailsPostRequest'],
      ['put', `${agents}/agentless/connectiondetails`, 'body', 'AgentlessRsConnectionDetailsUpdateRequest'],
      ['post', `${agents}/agentless/registration`, 'body', 'AgentlessRsConnectionDetailsRegistrationPostRequest'],
      ['post', `${agents}/agentless/unregistration`, 'body', 'AgentlessRsConnectionDetailsRegistrationPostRequest'],
      ['get', `${agents}/agentless/workerpollerdetails`, '200', 'WorkerPollerDetails'],
      ['put', `${agents}/agentless/workerpollerdetails/activatedstatus`, 'body', 'WorkerAppActivatePollerPutRequest'],
      ['post', `${config}/deletehashtags`, 'body', 'GatewayHashtagActionDto'],
      ['get', `${notices}/notifications`, '200', 'NotificationGroupDataViewResource'],
      ['post', `${notices}/notifications/update`, 'body', 'NotificationGroupDataViewResource'],
      ['post', `${notices}/notifications/update`, '200', 'NotificationGroupDataViewResource'],
      ['get', notices, '200', 'NotificationsViewResource'],
      ['get', `${notices}/riskNotifications`, '200', 'RiskNotifications'],
      ['post', `${notices}/riskNotifications/dismiss`, 'body', 'RiskNotifications'],
      ['post', `${notices}/riskNotifications/pin`, 'body', 'NotificationActionViewResource'],
      ['get', `${notices}/systemHealth`, '200', 'OperationalStatusViewResource'],
    ] as const
    expect(new Set(uses.map(([, , , resource]) => resource)).size).toBe(17)
    /** Returns the schema that an operation takes or returns, without a wrapping array or null. */
    const shapeOf = (method: string, path: string, place: string): string => {
      const operation = document.paths[`/prime/webui/${path}`]?.[method]
      const described = place === 'body' ? operation?.requestBody : operation?.responses['200']
      const { content } = described as { content: Record<string, { schema: { $ref?: string } }> }
      const schema = content['application/json']?.schema ?? {}
      const name = schema.$ref?.split('/').at(-1) ?? ''
      return JSON.stringify([schema, document.components.schemas[name]])
    }
    for (const [method, path, place, resource] of uses)
      expect(shapeOf(method, path, place), `${method} ${path}`).toContain(`"#/components/schemas/${resource}"`)
  })

  it('is as wide as the server: null for every body that may be empty, and typed filters', async () => {
    const document = (await t.as(undefined).get('/openapi.json')).json() as OpenApiDocument
    const resolved = (schema: JsonSchema | undefined): JsonSchema =>
      (typeof schema?.$ref === 'string' ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema) ??
      {}
    const optional = t.app.operations.filter(({ bodyOptional, upload }) => bodyOptional === true && upload !== true)
    const narrow = optional.filter(({ path, method }) => {
      const body = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.schema
      return !resolved(body).anyOf?.some(({ type }) => type === 'null')
    })
    expect(narrow.map(({ id }) => id)).toEqual([])
    expect(optional.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['addOrUpdateSmtp', 'addOrUpdateLicense', 'setServerDomainName', 'deleteAgents']),
    )
    const runs = document.paths['/prime/webui/agents/agentless/connectiondetailsstatus']?.get?.parameters ?? []
    const types = Object.fromEntries(runs.map(({ name, schema }) => [name, schema.format ?? schema.type]))
    const times = ['StartTime', 'FromTimeStart', 'ToTimeStart', 'EndTime', 'FromTimeEnd', 'ToTimeEnd']
    expect(types).toMatchObject({
      IsOverrideDefaults: 'boolean',
      StatusString: 'string',
      ...Object.fromEntries(times.map((name) => [name, 'date-time'])),
    })
  })

  it('has only patterns that every regular expression engine reads', async () => {
    const patterns = [
      ...JSON.stringify((await t.as(undefined).get('/openapi.json')).json()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
    ].map(([, text]) => JSON.parse(text ?? '') as string)
    expect(patterns.length).toBeGreaterThan(50)
    expect(patterns.filter((pattern) => /\\[pP]\{/.test(pattern))).toEqual([])
  })

  it('passes the recommended rules of redocly', async () => {
    const { body } = await t.as(undefined).get('/openapi.json')
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-openapi-'))
    try {
      const file = join(dir, 'openapi.json')
      writeFileSync(file, body)
      const redocly = join(import.meta.dirname, '../../..', 'node_modules', '.bin', 'redocly')
      const { status, stdout, stderr } = spawnSync(redocly, ['lint', '--extends=recommended', '--format=json', file], {
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      })
      const { problems } = JSON.parse(stdout) as { problems: { message: string; location: { pointer: string }[] }[] }
      const found = problems.map(({ message, location }) => `${location[0]?.pointer} ${message}`)
      expect([status, found, stderr]).toMatchObject([0, [], expect.anything()])
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

describe('/docs', () => {
  it.each(['/docs', '/docs/', '/docs/errors'])('%s is a page without scripts and external resources', async (path) => {
    const page = await t.as(undefined).get(path)
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='; /)
    expect(page.body).not.toMatch(/<(script|link|img|iframe)|<[^>]*\s(style|on\w+)=|javascript:/i)
  })

  it('explains the problem that a refusal points to', async () => {
    const problem = (await t.as(undefined).get('/prime/webui/agents')).json() as { type: string }
    const [path = '', anchor] = problem.type.split('#')
    expect((await t.as(undefined).get(path)).body).toContain(`<section id="${anchor}">`)
    const page = (await t.as(undefined).get('/docs/errors')).body
    for (const code of Object.keys(errorTable)) expect(page).toContain(`<section id="${code}">`)
  })

  it('shows every operation, and has no broken links', async () => {
    const page = (await t.as(undefined).get('/docs')).body
    for (const { id } of t.app.operations) expect(page).toContain(`<section id="${id}">`)
    const anchors = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]))
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(anchors).toContain(target)
  })
})
