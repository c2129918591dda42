/** Maps the resource names of the interface specification to shapes, for OpenAPI and generated clients. */

import {
  addConnections,
  connectionDetailsStatus,
  registerConnections,
  updateConnection,
} from '@portcullis/features/agentless/contract/agentless.ts'
import { activateWorker, WorkerPollerDetails } from '@portcullis/features/agentless/contract/agentless-worker.ts'
import { AgentsPage } from '@portcullis/features/agents/contract/agents.ts'
import { NotificationGroup, NotificationGroupChange } from '@portcullis/features/alerts/contract/notification-groups.ts'
import {
  countNotices,
  dismissRiskNotice,
  listHealthNotices,
  pinRiskNotice,
  RiskNotification,
} from '@portcullis/features/alerts/contract/notifications.ts'
import { agentsConfiguration } from '@portcullis/features/commands/contract/commands.ts'
import { errorTotal } from '@portcullis/features/devices/contract/insights.ts'
import { AccountView } from '@portcullis/features/identity/contract/accounts.ts'
import { AccountChange, MyAccountUpdate, NewAccount } from '@portcullis/features/identity/contract/admin.ts'
import { GatewayHashtagActionDto } from '@portcullis/features/tags/contract/tags.ts'
import type { TSchema } from 'typebox'

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
