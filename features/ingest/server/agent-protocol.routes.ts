import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { FileAnswer, WithHeaders } from '@portcullis/platform/server/http/answer.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { type Authenticator, createFailureQuota } from '@portcullis/platform/server/http/machine.ts'
import { Type } from 'typebox'
import type { AgentsApi } from '#features/agents/server/index.ts'
import {
  agentPaths,
  closed,
  commandKeyHeader,
  EnrolRequest,
  EnrolResponse,
  operation,
  SessionRequest,
  SessionResponse,
} from '#features/contract.ts'

const agentOperation = { tag: 'Agent protocol', permission: 'agent' } as const

const enrol = operation({
  ...agentOperation,
  id: 'agentEnrol',
  method: 'POST',
  path: agentPaths.enrol,
  summary: 'Exchanges an enrolment token and a public key for an agent id',
  body: EnrolRequest,
  response: EnrolResponse,
  errors: ['enrolment_refused', 'too_many_requests'],
})

const openSession = operation({
  ...agentOperation,
  id: 'agentSession',
  method: 'POST',
  path: agentPaths.session,
  summary: 'Opens a session by proof of possession of the agent key',
  body: SessionRequest,
  response: SessionResponse,
  errors: ['agent_unknown', 'agent_revoked', 'session_proof_old', 'conflict', 'too_many_requests'],
})

const installScript = operation({
  ...agentOperation,
  id: 'agentInstallScript',
  method: 'GET',
  path: '/agent/v1/install.sh',
  summary: 'The script that installs the agent on a Linux host',
  permission: 'public',
  response: Type.String(),
  responseKind: 'file',
  fileType: 'text/x-shellscript',
})

const download = operation({
  ...agentOperation,
  id: 'agentDownload',
  method: 'GET',
  path: '/agent/v1/download/{platform}',
  summary: 'The agent as one executable, or the Windows installer without a token',
  permission: 'public',
  params: closed({
    platform: Type.String({ maxLength: 32, description: '`linux-x64`, `linux-arm64` or `windows-x64`.' }),
  }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/octet-stream',
  errors: ['too_many_requests'],
})

/**
 * Number of failures per minute for one enrolment token or one agent, from one address, before it must wait. Secrets
 * have 256 bits, so this only limits the load on the database. For the address alone, 600 failures count, because a
 * whole site may share it.
 */
const failuresPerMinute = 30
/** Length of the prefix and the id of an enrolment token, without its secret. */
const tokenIdLength = 36

/** Returns the command key that an agent claims to hold. It affects only what that agent receives. */
const keyIdOf = (headers: Readonly<Record<string, unknown>>): string | undefined => {
  const id = headers[commandKeyHeader]
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) ? id : undefined
}

/** Registers the requests of a host before its first check-in: install, enrol, open a session. */
export const registerAgentProtocol = (app: HttpApp, agents: AgentsApi, clock: { now(): number }): void => {
  const quota = createFailureQuota(clock)
  /** The credential is in the body. An address with too many failures is refused before the body is read. */
  const newcomer: Authenticator<void> = { credential: 'body', check: ({ ip }) => quota.assert(ip) }
  const failures = new Map<string, { since: number; count: number }>()
  async function limited<T>(ip: string, secret: string, work: () => Promise<T>): Promise<T> {
    const key = `${ip} ${secret}`
    const now = clock.now()
    function recent() {
      const seen = failures.get(key)
      return seen === undefined || now - seen.since > 60_000 ? { since: now, count: 0 } : seen
    }
    if (recent().count >= failuresPerMinute)
      throw new AppError('too_many_requests', { seconds: 60 }, { headers: { 'retry-after': '60' } })
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError && (error.code === 'enrolment_refused' || error.code === 'agent_unknown')) {
        if (failures.size > 10_000) failures.clear()
        const { since, count } = recent()
        failures.set(key, { since, count: count + 1 })
        quota.failed(ip)
      }
      throw error
    }
  }

  app.registerMachine(enrol, newcomer, ({ body, request }) =>
    limited(request.ip, body.token.slice(0, tokenIdLength), async () => {
      const enrolled = await agents.enrol(body, request.ip)
      credentialSeen(request.raw.socket, machineOwner(enrolled.agentId))
      return enrolled
    }),
  )
  app.registerMachine(openSession, newcomer, ({ body, request }) =>
    limited(request.ip, body.agentId, async () => {
      const opened = await agents.openSession(body, keyIdOf(request.headers), request.ip)
      credentialSeen(request.raw.socket, machineOwner(body.agentId))
      return opened
    }),
  )
  app.register(installScript, async () => {
    const text = agents.downloads.script()
    if (text === null) throw notFound('This server has no agent executable. Build one first.')
    return new FileAnswer('install.sh', 'text/x-shellscript; charset=utf-8', text)
  })
  app.register(download, async ({ params, request }) => {
    const file = await agents.downloads.executable(params.platform, request.ip)
    if (file === null) throw notFound('No agent executable exists for this platform.')
    return new WithHeaders(new FileAnswer(file.name, 'application/octet-stream', file.stream), {
      'content-length': String(file.size),
    }) as never
  })
}
