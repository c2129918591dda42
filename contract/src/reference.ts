import { Type } from 'typebox'
import { agentPaths, CheckInRequest, CheckInResponse } from './agent-protocol.ts'
import { operation } from './operation.ts'

/** Groups of operations, in the order of the reference. */
export const operationGroups: Readonly<Record<string, string>> = {
  Auth: 'Signing in and out, sessions of the own account.',
  Admin: 'Accounts, API tokens, health and version of the server.',
  Agents: 'Hosts with an agent, their classification, enrolment of further ones.',
  Peripherals: 'USB devices of the fleet, present and gone.',
  Events: 'What happened on hosts, and the audit trail of what people did.',
  GeneralConfig: 'Tags and settings.',
  'Network access control': 'Quarantines of hosts by Cisco ISE and Forescout CounterACT.',
  Live: 'What changed, while it happens.',
  'Agent protocol': 'What hosts speak: install, enrol, check in.',
  'Worker protocol': 'What the agentless worker speaks: register, take polls, bring results.',
  Health: 'For load balancers and monitoring.',
  Reference: 'This interface, for machines and for people.',
  AssetProducer: 'The inventory as a stream that asset systems follow.',
  Deliveries: 'Mails, webhooks and streams of events: what was sent, what waits, what failed.',
  Jobs: 'Work that takes longer than a request: how far it is, and its end.',
  Notification: 'Notices, and the groups that are told of them.',
  Policy: 'Rules, grants and approvals; what they would do; requests for a second person.',
  Reports: 'Lists as files, made at their times.',
  Rollouts: 'Arming and updates, ring by ring.',
}

export const getOpenApi = operation({
  id: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'Reference',
  summary: 'This interface as OpenAPI 3.1',
  permission: 'public',
  response: Type.Object({ openapi: Type.String({ examples: ['3.1.0'] }) }),
})

export const getDocs = operation({
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  tag: 'Reference',
  summary: 'This interface as a page to read',
  permission: 'public',
  response: Type.String(),
  responseKind: 'html',
})

export const getErrorDocs = operation({
  id: 'getErrorDocs',
  method: 'GET',
  path: '/docs/errors',
  tag: 'Reference',
  summary: 'Every problem the server answers, with its cause and cure',
  description: 'The `type` of a problem is an anchor of this page.',
  permission: 'public',
  response: Type.String(),
  responseKind: 'html',
})

/** Taken before the router (the hot path), so described here: what it answers and refuses is the same as of any other. */
export const agentCheckIn = operation({
  id: 'agentCheckIn',
  method: 'POST',
  path: agentPaths.checkIn,
  tag: 'Agent protocol',
  summary: 'Reports what changed on a host; answered after it is stored',
  description:
    'Idempotent per bootId and seq. The full inventory travels only when the answer asks for it, because the hashes differ.',
  permission: 'agent',
  body: CheckInRequest,
  response: CheckInResponse,
  errors: [
    'agent_report_invalid',
    'agent_session_expired',
    'agent_session_superseded',
    'agent_revoked',
    'agent_unknown',
  ],
})
