import type { Readable } from 'node:stream'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { Type } from 'typebox'
import { agentPaths, closed, operation } from '#features/contract.ts'
import { agentAuthenticator } from './agent-authenticator.ts'
import type { IngestContext } from './context.ts'
import { tooMany } from './quota.ts'

const upload = operation({
  id: 'agentDebugLogs',
  method: 'POST',
  path: `${agentPaths.debugLogs}/{commandId}`,
  tag: 'Agent protocol',
  summary: 'Receives the debug logs that a command requested',
  description:
    'A gzip file of at most 20 MiB, 400 MiB unpacked. Accepted once per command; a repeated upload gets the same answer.',
  permission: 'agent',
  params: closed({
    commandId: Type.String({ maxLength: 64, description: 'Id of the command that requested the logs.' }),
  }),
  streamType: 'application/gzip',
  response: closed({ received: Type.Literal(true) }),
  errors: ['agent_session_expired', 'agent_revoked', 'agent_report_invalid', 'payload_too_large', 'too_many_requests'],
})

/** Seconds after which an agent retries while its upload is running. */
const secondsBetween = 5
export const registerDebugLogUpload = (app: HttpApp, context: IngestContext): void => {
  const { commands } = context
  /** Agents with a running upload: one each. */
  const sending = new Set<string>()
  const authenticator = agentAuthenticator(context, { refusesRevoked: true })
  app.registerMachine(upload, authenticator, async ({ params, request, machine: { agentId } }) => {
    if (sending.has(agentId)) throw tooMany(secondsBetween)
    sending.add(agentId)
    try {
      // Refusing a body midway must not destroy the connection before the response is sent.
      const body = (request.body as Readable).iterator({ destroyOnReturn: false })
      await commands.receiveLog(agentId, params.commandId, body)
      return { received: true as const }
    } finally {
      sending.delete(agentId)
    }
  })
}
