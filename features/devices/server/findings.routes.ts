import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import { closeFindings, listFindings, reopenFindings } from '#features/contract.ts'
import type { Findings } from './findings.service.ts'

export const registerFindingRoutes = (app: HttpApp, list: List, findings: Findings): void => {
  app.register(listFindings, ({ query }) => list.page(query))
  app.register(closeFindings, ({ actor, body }) => findings.close(actor, body))
  app.register(reopenFindings, ({ actor, body }) => findings.reopen(actor, body))
}
