import type { HostFacts } from '@portcullis/contract'
import { cleanText, mustExist } from '@portcullis/domain'
import { searchText } from './agents.read.ts'
import type { StoredFacts } from './agents.store.ts'

const clean = (text: string, max = 255): string => cleanText(text, max)

export const dictionaryTexts = (facts: HostFacts): { os: string; version: string } => ({
  os: clean(facts.osName, 120),
  version: clean(facts.agentVersion, 64),
})

/** Converts facts to their stored form. Cleans every string, because hosts choose them. */
export const storedFacts = (agentId: string, facts: HostFacts, ids: ReadonlyMap<string, number>): StoredFacts => {
  const { os, version } = dictionaryTexts(facts)
  const host = clean(facts.hostname) || agentId
  const address = clean(facts.address, 64)
  const pcModel = [
    `${clean(facts.vendor, 120)} ${clean(facts.model, 120)}`.trim(),
    clean(facts.chassis, 64),
    clean(facts.sku, 120),
  ].join('||')
  const nics = facts.nics.map((nic) => ({
    name: clean(nic.name, 64),
    mac: nic.mac,
    addresses: nic.addresses.map((a) => clean(a, 64)),
    isUp: nic.isUp,
  }))
  return {
    agentId,
    host,
    address,
    facts: {
      osName: os,
      osVersion: clean(facts.osVersion, 120),
      kernel: clean(facts.kernel, 120),
      architecture: clean(facts.architecture, 32),
      vendor: clean(facts.vendor, 120),
      model: clean(facts.model, 120),
      chassis: clean(facts.chassis, 64),
      sku: clean(facts.sku, 120),
      ...(facts.enforcementReason === undefined ? {} : { enforcementReason: clean(facts.enforcementReason, 200) }),
      ...(facts.osBuild === undefined ? {} : { osBuild: facts.osBuild }),
      ...(facts.releaseKey === undefined ? {} : { releaseKey: facts.releaseKey }),
    },
    releaseKey: facts.releaseKey === undefined ? 'unreported' : facts.releaseKey.slice(0, 16) || 'none',
    nics,
    nicsText: nics.length === 0 ? null : nics.map((nic) => `${nic.mac}||||${nic.name}`).join('**'),
    pcModel,
    osName: os,
    version,
    enforcement: facts.enforcement,
    osId: mustExist(ids.get(os), 'the id of an operating system'),
    versionId: mustExist(ids.get(version), 'the id of a version'),
    ethernets: nics.length,
    search: searchText([host, address, agentId, version, os, pcModel.replaceAll('||', ' ')]),
  }
}
