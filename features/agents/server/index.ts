import { join } from 'node:path'
import { getCommandKeys } from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createDownloadSlots } from '@portcullis/platform/server/limiters/download-slots.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { createSharedFiles } from '@portcullis/platform/server/shared-files.ts'
import { createAdopt } from './adopt.ts'
import { agentsList, createAgentsRead } from './agents.read.ts'
import { registerAgentRoutes } from './agents.routes.ts'
import { createAgentsService, type RemovalStep, type UnlinkedListener } from './agents.service.ts'
import { createAgentsStore } from './agents.store.ts'
import { createCommandKeyOverview } from './command-keys.ts'
import { createCommandState } from './command-state.store.ts'
import type { AgentsContext } from './context.ts'
import { createDownloads } from './downloads.ts'
import { createEnrollmentService } from './enrollment.service.ts'
import { createEnrollmentStore } from './enrollment.store.ts'
import { createHeartbeatsStore } from './heartbeats.store.ts'
import { createHostMessages } from './host-messages.ts'
import { createResolve } from './identities.ts'
import { createProofNonces } from './proof-nonces.ts'
import { createRevoked, revocationOf } from './revocations.ts'
import { createSessionTokens } from './session-token.ts'
import { createSessionsService } from './sessions.service.ts'
import { createSessionsStore } from './sessions.store.ts'
import { createWindowsInstallers } from './windows-installer.ts'

export { agentsList } from './agents.read.ts'
export type { AgentState, StoredBeat, StoredFacts, StoredVerdict } from './agents.store.ts'
export type { CommandTarget } from './command-state.store.ts'
export { dictionaryTexts, storedFacts } from './facts.ts'
export type { Beat, BeatState } from './heartbeats.store.ts'
export { hostTopics } from './host-messages.ts'
export type { ResolvedAgent } from './identities.ts'
export { readKeyHolders } from './key-holders.read.ts'
export { addLatestEvents } from './latest-events.store.ts'
export type { AgentSession } from './session-token.ts'

export type AgentsApi = ReturnType<typeof agentsFeature>

/** Creates the agents feature: their list and detail, enrolment, sessions, removal, and the writes of the ingest. */
export const agentsFeature = (app: HttpApp, context: AgentsContext & { agentBuildDir: string }) => {
  const { db, clock, keys, agentBuildDir } = context
  const store = createAgentsStore(db)
  const heartbeats = createHeartbeatsStore(db)
  const commandState = createCommandState()
  const read = createAgentsRead(db)
  const tokens = createSessionTokens(keys.derive('agent-session'))
  const removal: RemovalStep[] = []
  const unlinked: UnlinkedListener[] = []
  const messages = createHostMessages(context.bus)
  const service = createAgentsService({
    ...context,
    removal,
    unlinked,
    announceRemoved: messages.removed,
    revoke: (agent) => revocationOf(agent, clock.now(), keys.command),
    store,
    read,
    list: createList(agentsList, context),
  })
  const files = createSharedFiles()
  const installers = createWindowsInstallers(join(agentBuildDir, 'msi'), files)
  const slots = createDownloadSlots({ limited: app.limited })
  const downloads = createDownloads({ buildDir: agentBuildDir, reach: context.reach, installers, files, slots })
  const enrollment = createEnrollmentService({
    ...context,
    command: downloads.command,
    installers,
    store: createEnrollmentStore(db),
    agents: store,
  })
  const hosts = createAdopt({ ...context, store: createEnrollmentStore(db), agents: store })
  const sessionsStore = createSessionsStore(db)
  const revoked = createRevoked(sessionsStore, keys.command)
  const sessions = createSessionsService({
    ...context,
    store: sessionsStore,
    tokens,
    nonces: createProofNonces(keys.derive('session-nonce')),
    revoked,
  })
  registerAgentRoutes(app, service, enrollment)
  app.register(getCommandKeys, createCommandKeyOverview(db, keys.command))
  return {
    createToken: enrollment.create,
    enrol: enrollment.enrol,
    openSession: sessions.open,
    /** Hosts without an agent. */
    hosts,
    forgetNonces: sessions.forgetNonces,
    isRevoked: async (agentId: string): Promise<boolean> => (await sessionsStore.revocation(agentId)) !== null,
    revoked,
    verifySession: tokens.verify,
    totals: read.totals,
    wrongClocks: read.wrongClocks,
    hostsByReleaseKey: read.hostsByReleaseKey,
    /** Resolves each identity to one agent, or throws a 400 that names the ambiguous or unknown item. */
    resolve: createResolve(store),
    downloads,
    /** Returns the list row of a host, and the fields that only its page shows. */
    one: service.one,
    remove: service.remove,
    decideDuplicate: service.decideDuplicate,
    /** Registers a step that releases removed hosts; called at start, in the order of the tiers. */
    onRemove: (step: RemovalStep): void => {
      removal.push(step)
    },
    /** Registers a listener for hosts that have no possible duplicate left. */
    onUnlinked: (listener: UnlinkedListener): void => {
      unlinked.push(listener)
    },
    /** Asks hosts, at COMMIT, to check in now, whichever replica holds their sockets. */
    wake: messages.wake,
    disconnectSilent: store.disconnectSilent,
    /** The changes of hosts by reports, assessments and commands. Callers lock the hosts first, in id order. */
    lockStates: store.lockStates,
    lockForCommands: commandState.lock,
    dictionaryIds: store.dictionaryIds,
    writeFacts: store.writeFacts,
    writeVerdicts: store.writeVerdicts,
    writeModes: store.writeModes,
    recordHeartbeats: store.recordHeartbeats,
    addErrors: store.addErrors,
    commandsPending: commandState.pending,
    commandsDone: commandState.idle,
    orderModes: commandState.orderModes,
    withdrawModes: commandState.withdrawModes,
    configured: commandState.configured,
    /** Stores check-ins without changes in batches of hundreds. */
    takeHeartbeats: heartbeats.take,
    heartbeatStates: heartbeats.states,
    setConnected: heartbeats.connect,
    disconnectPolled: heartbeats.disconnectPolled,
    markPolicyDue: heartbeats.markPolicyDue,
    takePolicyDue: heartbeats.takePolicyDue,
    requestInventory: heartbeats.requestInventory,
  }
}
