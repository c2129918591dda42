import { listCommands } from '@portcullis/contract'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { createList } from '#platform/list/list.ts'
import { commandsList, createCommandsRead } from './commands.read.ts'
import { type CommandsDeps, createCommandsService } from './commands.service.ts'

export type { CommandSpec } from './commands.service.ts'
export type CommandsApi = ReturnType<typeof commandsFeature>

/** Commands to hosts: signed, kept until they are ended, delivered with check-ins, confirmed, cancelled, expired. */
export const commandsFeature = (app: HttpApp, deps: CommandsDeps & { exportDb: Db }) => {
  const list = createList(commandsList, deps)
  const service = createCommandsService(deps)
  app.register(listCommands, ({ query }) => list.page(query))
  return { ...service, pendingOf: createCommandsRead(deps.db).pendingOf }
}
