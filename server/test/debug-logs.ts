import { type AgentCommand, agentPaths } from '@portcullis/features/contract.ts'
import type { TestApp } from './app.ts'
import { fetchText, type HttpAnswer, type TestAgent } from './builders.ts'

/** Requests the debug logs of a host and returns the ID of the command that its next check-in receives. */
export const requestDebugLog = async (t: TestApp, agent: TestAgent): Promise<string> => {
  const admin = await t.admin()
  const answer = await admin.post('/prime/webui/agents/fetchagentsdebuglogs', [agent.agentId])
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const [command] = (await agent.checkIn()).commands ?? []
  const { id, kind } = JSON.parse(command?.payload ?? '') as AgentCommand
  if (kind !== 'collect-logs') throw new Error(`The host received ${kind}.`)
  return id
}

/** Sends a debug log as the agent of a host. */
export const uploadDebugLog = (
  t: TestApp,
  agent: TestAgent,
  id: string,
  body: Buffer,
  type = 'application/gzip',
): Promise<HttpAnswer> =>
  fetchText(t, `${agentPaths.debugLogs}/${id}`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: `Bearer ${agent.state.session}` },
    body: new Uint8Array(body),
  })
