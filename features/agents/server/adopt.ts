import { knownMachineHash } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { HostFacts } from '#features/contract.ts'
import { duplicateEvents } from './agent-events.ts'
import type { AgentsStore } from './agents.store.ts'
import type { AgentsContext } from './context.ts'
import type { EnrollmentStore } from './enrollment.store.ts'
import { dictionaryTexts, storedFacts } from './facts.ts'

/**
 * Adds hosts without an agent: polled hosts, and hosts that other systems observe. They have no key. Their id is also
 * the boot id of their reports.
 */
export const createAdopt = ({ clock, tags, events }: AgentsContext, store: EnrollmentStore, agents: AgentsStore) => ({
  /** Returns the ids of the texts in facts. Call it before the transaction, which has only one connection. */
  textIds: (facts: readonly HostFacts[]): Promise<ReadonlyMap<string, number>> =>
    facts.length === 0
      ? Promise.resolve(new Map())
      : agents.dictionaryIds(facts.flatMap((one) => Object.values(dictionaryTexts(one)))),

  /**
   * Makes a polled host an agent, in the caller's transaction, and returns its id. If the host claims to be the same
   * machine as an existing agent, an event reports it, but both stay visible. The claims of a host never hide another
   * one.
   */
  adopt: async (
    tx: Tx,
    host: {
      facts: HostFacts
      machineIdHash: string | null
      tags: readonly string[]
      details: string
    },
    ids: ReadonlyMap<string, number>,
  ): Promise<string> => {
    const now = new Date(clock.now())
    const machineIdHash = knownMachineHash(host.machineIdHash)
    const known = machineIdHash === null ? [] : await store.lookAlikes(tx, machineIdHash, null)
    const agentId = newId(now.getTime())
    const facts = storedFacts(agentId, host.facts, ids)
    await store.insertAgent(tx, {
      agentId,
      host: facts.host,
      publicKey: null,
      keyAlgorithm: null,
      machineIdHash,
      smbiosHash: null,
      now,
      tokenId: null,
      osId: facts.osId,
      versionId: facts.versionId,
      agentless: true,
      commandKey: 0,
    })
    await agents.writeFacts(tx, [facts])
    await tags.tagAgents(tx, [agentId], await tags.ensureTags(tx, host.tags))
    if (known.length > 0) await store.linkDuplicates(tx, [agentId, ...known.map((one) => one.agent_id)])
    const about = { agentId, entity: `${facts.host} (${facts.address})`, hashtags: host.tags.join(',') }
    await events.append(tx, [
      { ...about, kind: 'polled', details: host.details },
      ...duplicateEvents(about, { machine_id_hash: machineIdHash, smbios_hash: null }, known),
    ])
    return agentId
  },

  /**
   * Adds hosts that appear only in events of another system, in the caller's transaction. Returns their ids in order.
   */
  observe: async (
    tx: Tx,
    hosts: readonly { facts: HostFacts; details: string }[],
    ids: ReadonlyMap<string, number>,
  ): Promise<string[]> => {
    const now = new Date(clock.now())
    const added = hosts.map(({ facts }) => storedFacts(newId(now.getTime()), facts, ids))
    await store.insertObserved(tx, now, added)
    await agents.writeFacts(tx, added)
    await events.append(
      tx,
      added.map((one, i) => ({
        agentId: one.agentId,
        entity: `${one.host} (${one.address})`,
        hashtags: '',
        kind: 'observed',
        details: hosts[i]?.details ?? '',
      })),
    )
    return added.map(({ agentId }) => agentId)
  },
})
