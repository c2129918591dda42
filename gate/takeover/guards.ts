import { agentGuards } from './guards/agent.ts'
import { approvalGuards } from './guards/approvals.ts'
import { fleetGuards } from './guards/fleet.ts'
import { peopleGuards } from './guards/people.ts'
import { storageGuards } from './guards/storage.ts'

/** Every protection that a cell of the takeover matrix relies on. */
export const guards = { ...peopleGuards, ...approvalGuards, ...fleetGuards, ...agentGuards, ...storageGuards }

export type GuardId = keyof typeof guards
