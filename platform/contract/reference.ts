import { agentPaths, CheckInRequest, CheckInResponse } from '@portcullis/contract/agent-protocol.ts'
import { Type } from 'typebox'
import { operation } from './operation.ts'

/** Describes the groups of operations, in the order of the reference. */
export const operationGroups: Readonly<Record<string, string>> = {
  Auth: 'Sign-in, sign-out and the sessions of your account.',
  Admin: 'Accounts, API tokens, and the health and version of the server.',
  Agents: 'Hosts, with or without an agent: lists, enrolment, configuration, commands and connections.',
  Peripherals: 'USB devices that are or were attached to hosts.',
  Events: 'Events on hosts, and the audit trail of changes that people made.',
  GeneralConfig: 'Settings, integrations and tags.',
  'Network access control': 'Quarantine of hosts by Cisco ISE and Forescout CounterACT.',
  Live: 'A stream that reports changes as they happen.',
  'Agent protocol': 'The calls of agents: install, enrol, check in.',
  'Worker protocol': 'The calls of the agentless worker: register, take polls, return results.',
  Health: 'Endpoints for load balancers and monitoring.',
  'Held ports': 'USB ports that hosts disabled after a driver mismatch, and their release.',
  Reference: 'The description of this interface, as OpenAPI and as a page.',
  AssetProducer: 'The inventory as a stream for asset management systems.',
  Deliveries: 'Sent, waiting and failed deliveries: emails, webhooks and event streams.',
  Jobs: 'Long-running work: its progress and result.',
  Notification: 'Alerts, and the notification groups that send them.',
  Findings: 'Attack tools and vulnerable devices on hosts, and the verdicts about them.',
  Policy: 'Rules, grants, approvals, previews, and change requests for a second approver.',
  Reports: 'Lists as files, generated on schedule.',
  Rollouts: 'Arming and updating hosts, ring by ring.',
}

export const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'Reference',
  summary: 'Returns the OpenAPI 3.1 document of this interface',
  permission: 'public',
  response: Type.Object({ openapi: Type.String({ examples: ['3.1.0'] }) }),
})

export const getDocs = operation({
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  tag: 'Reference',
  summary: 'Returns the reference of this interface as a web page',
  permission: 'public',
  response: Type.String(),
  responseKind: 'html',
})

export const getErrorDocs = operation({
  id: 'getErrorDocs',
  method: 'GET',
  path: '/docs/errors',
  tag: 'Reference',
  summary: 'Returns all error codes with causes and cures as a web page',
  description: 'The `type` of a problem links to its entry on this page.',
  permission: 'public',
  response: Type.String(),
  responseKind: 'html',
})

/** Describes the check-in here because the server handles it before the router. Its responses follow the same rules. */
export const agentCheckIn = operation({
  id: 'agentCheckIn',
  method: 'POST',
  path: agentPaths.checkIn,
  tag: 'Agent protocol',
  summary: 'Reports the changes on a host',
  description:
    'The server responds after it has stored the report. The call is idempotent per `bootId` and `seq`. The agent sends its full inventory only when the response asks for it because the hashes differ.',
  permission: 'agent',
  body: CheckInRequest,
  response: CheckInResponse,
  errors: [
    'agent_report_invalid',
    'agent_session_expired',
    'agent_session_superseded',
    'agent_revoked',
    'agent_unknown',
    'too_many_requests',
  ],
})
