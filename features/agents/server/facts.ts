import { cleanText, isPlaceholder, mustExist } from '@portcullis/domain'
import type { HostFacts } from '#features/contract.ts'
import { searchText } from './agents.read.ts'
import type { StoredFacts } from './agents.store.ts'

const clean = (text: string, max = 255): string => cleanText(text, max)

/** Cleans the name of hardware. Placeholders of its vendor are no name. */
const named = (text: string): string => {
  const name = clean(text, 120)
  return isPlaceholder(name) ? '' : name
}

export const dictionaryTexts = (facts: HostFacts): { os: string; version: string } => ({
  os: clean(facts.osName, 120),
  version: clean(facts.agentVersion, 64),
})

/** Converts facts to their stored form. Cleans every string, because hosts choose them. */
export const storedFacts = (agentId: string, facts: HostFacts, ids: ReadonlyMap<string, number>): StoredFacts => {
  const { os, version } = dictionaryTexts(facts)
  const host = clean(facts.hostname) || agentId
  const address = clean(facts.address, 64)
  const [vendor, model, sku] = [named(facts.vendor), named(facts.model), named(facts.sku)]
  const pcModel = [`${vendor} ${model}`.trim(), clean(facts.chassis, 64), sku].join('||')
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
      vendor,
      model,
      chassis: clean(facts.chassis, 64),
      sku,
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
