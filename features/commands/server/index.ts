import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { getDebugLog, getLoggedAgents, listCommands } from '#features/contract.ts'
import { commandsList, createCommandsRead } from './commands.read.ts'
import { createCommandsService } from './commands.service.ts'
import type { CommandsContext } from './context.ts'
import { createDebugLogs } from './debug-logs.service.ts'

export { armOrder } from './arm.ts'
export type { CommandSpec } from './commands.service.ts'
export type CommandsApi = ReturnType<typeof commandsFeature>

/**
 * Creates commands to hosts: signed, stored until they end, delivered with check-ins, confirmed, cancelled, expired;
 * and the logs that they request.
 */
export const commandsFeature = (app: HttpApp, context: CommandsContext) => {
  const list = createList(commandsList, context)
  const service = createCommandsService(context)
  const logs = createDebugLogs(context)
  app.needs('a check of commands to arm', service.hasArmingCheck)
  context.agents.onRemove({ after: service.forgetAgents })
  app.register(listCommands, ({ query }) => list.page(query))
  app.register(getLoggedAgents, () => logs.agents())
  app.register(getDebugLog, ({ actor, params }) => logs.download(actor, params.agentId, params.id) as never)
  return {
    ...service,
    pendingOf: createCommandsRead(context.db).pendingOf,
    logsOf: logs.ofAgents,
    receiveLog: logs.receive,
    /** Deletes data that is no longer kept. */
    forget: async (): Promise<void> => {
      await service.forget()
      await logs.forgetIncomplete()
    },
  }
}
