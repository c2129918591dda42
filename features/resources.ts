/** Maps the resource names of the interface specification to shapes, for OpenAPI and generated clients. */

import type { TSchema } from 'typebox'
import {
  addConnections,
  connectionDetailsStatus,
  registerConnections,
  updateConnection,
} from './agentless/contract/agentless.ts'
import { activateWorker, WorkerPollerDetails } from './agentless/contract/agentless-worker.ts'
import { AgentsPage } from './agents/contract/agents.ts'
import { NotificationGroup, NotificationGroupChange } from './alerts/contract/notification-groups.ts'
import {
  countNotices,
  dismissRiskNotice,
  listHealthNotices,
  pinRiskNotice,
  RiskNotification,
} from './alerts/contract/notifications.ts'
import { agentsConfiguration } from './commands/contract/commands.ts'
import { errorTotal } from './devices/contract/insights.ts'
import { AccountView } from './identity/contract/accounts.ts'
import { AccountChange, MyAccountUpdate, NewAccount } from './identity/contract/admin.ts'
import { GatewayHashtagActionDto } from './tags/contract/tags.ts'

const bodyOf = <T extends TSchema>({ body }: { readonly body?: T }): T => body as T

export const specificationResources: Readonly<Record<string, TSchema>> = {
  AccountViewResource: AccountView,
  MyAccountUpdateResource: MyAccountUpdate,
  AgentsViewDataWrapper: AgentsPage,
  AgentPendingConfigurationWrapper: bodyOf(agentsConfiguration).anyOf[0].items,
  AgentsErrorDataWrapper: errorTotal.response,
  AgentslessRsStatusGetResponse: connectionDetailsStatus.response,
  AgentlessRsConnectionDetailsPostRequest: bodyOf(addConnections),
  AgentlessRsConnectionDetailsUpdateRequest: bodyOf(updateConnection),
  AgentlessRsConnectionDetailsRegistrationPostRequest: bodyOf(registerConnections),
  WorkerPollerDetails,
  WorkerAppActivatePollerPutRequest: bodyOf(activateWorker),
  GatewayHashtagActionDto,
  NotificationGroupDataViewResource: NotificationGroup,
  NotificationsViewResource: countNotices.response,
  RiskNotifications: RiskNotification,
  NotificationActionViewResource: bodyOf(pinRiskNotice),
  OperationalStatusViewResource: listHealthNotices.response,
}

/**
 * Request bodies that share a name with a response in the specification. Both have the same fields, but requests may
 * omit more of them, so the document uses one component for both.
 */
export const specificationBodies: Readonly<Record<string, readonly TSchema[]>> = {
  AccountViewResource: [NewAccount, AccountChange],
  NotificationGroupDataViewResource: [NotificationGroupChange],
  RiskNotifications: [bodyOf(dismissRiskNotice)],
}
