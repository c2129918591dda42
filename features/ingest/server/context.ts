import type { IncomingMessage } from 'node:http'
import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentlessApi } from '#features/agentless/server/index.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { HeldPortsApi } from '#features/hosts/server/held-ports/index.ts'
import type { KnowledgeApi } from '#features/knowledge/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'

export interface IngestContext extends Context {
  events: EventsApi
  agents: AgentsApi
  commands: CommandsApi
  peripherals: DevicesApi
  policy: PolicyApi
  agentless: AgentlessApi
  heldPorts: HeldPortsApi
  knowledge: KnowledgeApi
  settings: SettingsApi
  /** Returns the address that a request came from. */
  addressOf(request: IncomingMessage): string
  /** Longest wait of a check-in for its batch, in milliseconds. */
  maxWaitMs: number
}
