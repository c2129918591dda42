import { agentlessFeature } from '@portcullis/features/agentless/server/index.ts'
import { agentsFeature } from '@portcullis/features/agents/server/index.ts'
import { packagesFeature } from '@portcullis/features/builds/server/index.ts'
import { windowsFeature } from '@portcullis/features/builds/server/windows/index.ts'
import { commandsFeature } from '@portcullis/features/commands/server/index.ts'
import { peripheralsFeature } from '@portcullis/features/devices/server/index.ts'
import { insightsFeature } from '@portcullis/features/devices/server/insights/index.ts'
import { feedsFeature } from '@portcullis/features/feeds/server/index.ts'
import { actionsFeature } from '@portcullis/features/hosts/server/bulk/index.ts'
import { heldPortsFeature } from '@portcullis/features/hosts/server/held-ports/index.ts'
import { hostsFeature } from '@portcullis/features/hosts/server/index.ts'
import { createIngest, registerAgentPolicy } from '@portcullis/features/ingest/server/index.ts'
import { knowledgeFeature } from '@portcullis/features/knowledge/server/index.ts'
import { policyFeature } from '@portcullis/features/policy/server/index.ts'
import { nacFeature } from '@portcullis/features/quarantine/server/index.ts'
import { rolloutsFeature } from '@portcullis/features/rollouts/server/index.ts'
import { createClientAddress } from '@portcullis/platform/server/http/client-address.ts'
import type { Timer } from '@portcullis/platform/server/timers.ts'
import type { Base, ComposeOptions } from './compose.base.ts'

export type Fleet = Awaited<ReturnType<typeof composeFleet>>

/** Creates the hosts, their devices, the decisions about them, and their policies and commands. */
export const composeFleet = async (options: ComposeOptions, base: Base) => {
  const { config, keys, clock, log, reach } = options
  const { app, db, lists, bus, metrics, tracer, live, audit, events, tags, envelope, resolve } = base
  const { settings, thresholds, jobs, changeRequests, patience } = base
  const agents = agentsFeature(app, {
    ...lists,
    keys,
    bus,
    audit,
    events,
    tags,
    reach,
    agentBuildDir: options.agentBuildDir,
    announce: live.announce,
  })
  const packages = packagesFeature(app, {
    db,
    clock,
    audit,
    changeRequests,
    agents,
    releaseKey: options.releaseKey,
    dataDir: config.dataDir,
  })
  const knowledge = await knowledgeFeature(app, {
    db,
    clock,
    keys,
    log,
    bus,
    audit,
    changeRequests,
    release: options.knowledge,
    jobs,
    judging: {
      effectOf: (other) => peripherals.rejudge.effectOf(other),
      progress: (version) => peripherals.rejudge.progress(version),
    },
  })
  const peripherals = peripheralsFeature(app, {
    ...lists,
    bus,
    keys,
    log,
    agents,
    events,
    jobs,
    knowledge,
    decisions: { reassess: (tx, ids) => policy.reassess(tx, ids) },
  })
  const commands = commandsFeature(app, {
    ...lists,
    commandKeys: keys.command,
    log,
    audit,
    agents,
    events,
    jobs,
    settings,
    announce: live.announce,
  })
  const windows = windowsFeature(app, { db, clock, log, keys, audit, changeRequests, settings, commands })
  const policy = policyFeature(app, {
    config: settings,
    ...lists,
    keys,
    log,
    bus,
    audit,
    jobs,
    agents,
    peripherals,
    commands,
    knowledgeHash: () => knowledge.forAgents().hash,
    tags,
    changeRequests,
    announce: live.announce,
  })
  const heldPorts = heldPortsFeature(app, { db, clock, audit, commands, changeRequests, announce: live.announce })
  const actions = actionsFeature(app, {
    tags,
    db,
    clock,
    changeRequests,
    audit,
    agents,
    commands,
    jobs,
    latestPackage: packages.latestPackage,
    policy,
    settle: policy.settle,
    windows,
  })
  hostsFeature(app, { agents, peripherals, commands, policy, events, actions })
  const agentless = agentlessFeature(app, {
    ...lists,
    log,
    keys,
    envelope,
    audit,
    tags,
    agents,
    events,
    changeRequests,
    workerCommand: (token) => `npm run worker -- --server ${reach().url} --token ${token}`,
    ownWorkerToken: options.ownWorkerToken ?? null,
    lateMinutes: () => thresholds('WORKER_LATE_MINUTES'),
    announce: live.announce,
  })

  const ingest = createIngest({
    bus,
    agentless,
    db,
    clock,
    log,
    agents,
    peripherals,
    policy,
    commands,
    heldPorts,
    events,
    announce: live.announce,
    tracer,
    intervalSeconds: () => Number(settings.now('VENDORA_CHECKIN_SECONDS')),
    addressOf: createClientAddress(config.trustedProxies),
    metrics,
    maxWaitMs: patience.batchMs,
  })
  ingest.register(app)
  const feeds = feedsFeature(app, { db, clock, log, audit, agents, ingest, announce: live.announce })
  registerAgentPolicy(app, { clock, verifySession: agents.verifySession, policy, knowledge: knowledge.forAgents })
  const nac = nacFeature(app, {
    ...lists,
    log,
    bus,
    audit,
    events,
    settings,
    resolve,
    announce: live.announce,
  })
  const insights = insightsFeature(app, { ...lists, knowledge: knowledge.current })
  const rollouts = rolloutsFeature(app, {
    ...lists,
    log,
    audit,
    events,
    commands,
    packages,
    predict: policy.predict,
    changeRequests,
    announce: live.announce,
    windows,
  })

  const timers: Timer[] = [
    [1_000, 'disconnected host detection', ingest.sweep],
    [5_000, 'agentless polls', agentless.maintain],
    [5_000, 'feed upkeep', feeds.maintain],
    [2_000, 'quarantine updates', nac.run],
    [5_000, 'quarantine detection', nac.watch],
    [120_000, 'nonce upkeep', agents.forgetNonces],
    [2_000, 'rule expiry', policy.endOver],
    [1_000, 'decision updates', policy.drain],
    [60_000, 'rule seal check', policy.checkSeals],
    [60_000, 'rule set check', policy.integrity.maintain],
    [60_000, 'rule fingerprints', policy.adoptFingerprints],
    [10_000, 'command expiry', commands.expire],
    [3_600_000, 'command upkeep', commands.forget],
    [600_000, 'command key retirement', async () => keys.command.forgetRetired(clock.now())],
    [5_000, 'rollouts', rollouts.advance],
    [60_000, 'expired build removal', packages.discardExpired],
  ]
  return {
    agents,
    knowledge,
    peripherals,
    commands,
    policy,
    agentless,
    feeds,
    ingest,
    nac,
    insights,
    packages,
    rollouts,
    timers,
  }
}
