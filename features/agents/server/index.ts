import { join } from 'node:path'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createDownloadSlots } from '@portcullis/platform/server/limiters/download-slots.ts'
import { createSharedFiles } from '@portcullis/platform/server/shared-files.ts'
import { getCommandKeys } from '#features/contract.ts'
import { createAdopt } from './adopt.ts'
import { createAgentsRead } from './agents.read.ts'
import { registerAgentRoutes } from './agents.routes.ts'
import { createAgentsService } from './agents.service.ts'
import { createAgentsStore } from './agents.store.ts'
import { createCommandKeyOverview } from './command-keys.ts'
import { createCommandState } from './command-state.store.ts'
import type { AgentsContext } from './context.ts'
import { createDownloads } from './downloads.ts'
import { createEnrollmentService } from './enrollment.service.ts'
import { createEnrollmentStore } from './enrollment.store.ts'
import { createHeartbeatsStore } from './heartbeats.store.ts'
import { createResolve } from './identities.ts'
import { createRevocations } from './revocations.ts'
import { createSessionTokens } from './session-token.ts'
import { createSessionsService } from './sessions.service.ts'
import { createWindowsInstallers } from './windows-installer.ts'

export { agentsList } from './agents.read.ts'
export type { AgentState, StoredBeat, StoredFacts, StoredVerdict } from './agents.store.ts'
export type { CommandTarget } from './command-state.store.ts'
export { dictionaryTexts, storedFacts } from './facts.ts'
export type { Beat, BeatState } from './heartbeats.store.ts'
export { hostTopics } from './host-messages.ts'
export { hostsText } from './hosts-text.ts'
export type { ResolvedAgent } from './identities.ts'
export { readKeyHolders } from './key-holders.read.ts'
export { addLatestEvents } from './latest-events.store.ts'
export type { AgentSession } from './session-token.ts'

export type AgentsApi = ReturnType<typeof agentsFeature>

/** Creates the agents capability: list and details of hosts, enrolment, sessions, removal, and the writes of the ingest. */
export const agentsFeature = (app: HttpApp, context: AgentsContext & { agentBuildDir: string }) => {
  const { db, keys, agentBuildDir: buildDir, reach } = context
  const store = createAgentsStore(db)
  const read = createAgentsRead(db)
  const tokens = createSessionTokens(keys.derive('agent-session'))
  const service = createAgentsService(context, store, read)
  const files = createSharedFiles()
  const installers = createWindowsInstallers(join(buildDir, 'msi'), files)
  const slots = createDownloadSlots({ limited: app.limited })
  const downloads = createDownloads({ buildDir, reach, installers, files, slots })
  const enrollment = createEnrollmentService(context, downloads, installers)
  const revocations = createRevocations(context)
  const sessions = createSessionsService(context, tokens, revocations.revoked)
  registerAgentRoutes(app, service, enrollment)
  app.register(getCommandKeys, createCommandKeyOverview(db, keys.command))
  return {
    ...service,
    ...revocations,
    ...createHeartbeatsStore(db),
    ...createCommandState(),
    createToken: enrollment.create,
    enrol: enrollment.enrol,
    openSession: sessions.open,
    /** Hosts without an agent. */
    hosts: createAdopt(context, createEnrollmentStore(db), store),
    forgetNonces: sessions.forgetNonces,
    verifySession: tokens.verify,
    totals: read.totals,
    wrongClocks: read.wrongClocks,
    hostsByReleaseKey: read.hostsByReleaseKey,
    /** Resolves each identity to one agent, or throws a 400 that names the ambiguous or unknown item. */
    resolve: createResolve(store),
    downloads,
    disconnectSilent: store.disconnectSilent,
    /** The changes of hosts by reports, assessments and commands. Callers lock the hosts first, in id order. */
    lockStates: store.lockStates,
    dictionaryIds: store.dictionaryIds,
    writeFacts: store.writeFacts,
    writeVerdicts: store.writeVerdicts,
    writeModes: store.writeModes,
    recordHeartbeats: store.recordHeartbeats,
    addErrors: store.addErrors,
  }
}
