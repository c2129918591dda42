import type { Readable } from 'node:stream'
import { agentPaths, closed, operation } from '@portcullis/contract'
import { Type } from 'typebox'
import type { AgentsApi } from '#features/agents/index.ts'
import type { CommandsApi } from '#features/commands/index.ts'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { HttpApp } from '#platform/http/http-app.ts'

const upload = operation({
  id: 'agentDebugLogs',
  method: 'POST',
  path: `${agentPaths.debugLogs}/{commandId}`,
  tag: 'Agent protocol',
  summary: 'Takes the debug logs a host was told to collect',
  description: 'A gzip of at most 20 MiB, 400 MiB unpacked. Once per command; a repeated one is answered alike.',
  permission: 'agent',
  params: closed({ commandId: Type.String({ maxLength: 64, description: 'Id of the command that asked for them.' }) }),
  streamType: 'application/gzip',
  response: closed({ received: Type.Literal(true) }),
  errors: ['agent_session_expired', 'agent_revoked', 'agent_report_invalid', 'payload_too_large'],
})

export interface DebugLogRouteDeps {
  clock: Clock
  agents: Pick<AgentsApi, 'verifySession' | 'isRevoked'>
  commands: Pick<CommandsApi, 'receiveLog'>
}

export const registerDebugLogUpload = (app: HttpApp, { clock, agents, commands }: DebugLogRouteDeps): void => {
  app.register(upload, async ({ params, request }) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const session = agents.verifySession(token, clock.now() / 1000)
    if (session === null) throw new AppError('agent_session_expired')
    if (await agents.isRevoked(session.agentId)) throw new AppError('agent_revoked')
    // A body that is refused amid it must not take the answer down with it.
    const body = (request.body as Readable).iterator({ destroyOnReturn: false })
    await commands.receiveLog(session.agentId, params.commandId, body)
    return { received: true as const }
  })
}
