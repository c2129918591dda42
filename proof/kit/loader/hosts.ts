/** Creates the rows of one host for the tables of the fleet. */
import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { assignDeviceIds, factsHash, inventoryHash } from '@portcullis/domain'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import { createHost } from '../../../cli/simulator/hosts.ts'
import type { Random } from '../../../cli/simulator/random.ts'
import { storedFacts } from '../../../features/agents/server/index.ts'
import { newId } from '../../../platform/server/ids.ts'
import type { Value } from './bulk.ts'

/** A fingerprint as stored in the database. */
export interface LoadedDesign {
  design_id: number
  shape_id: number
  model_id: number
  vid: string
  pid: string
  model: string
  manufacturer: string
  product: string
  configuration: string
  severity: number
  vulnerable: boolean
  attack_tool: number
  descriptors: string
}

/** A host that a benchmark simulates afterwards. */
export interface PlayedHost {
  agentId: string
  privateKey: KeyObject
  inventoryHash: string
  devices: DeviceReport[]
}

/** Fingerprints in the groups that hosts draw from. */
export interface DesignPool {
  plain: readonly LoadedDesign[]
  vulnerable: readonly LoadedDesign[]
  attack: readonly LoadedDesign[]
  /** On three hosts each and nowhere else, whatever the fleet size: the devices that "uncommon" must find. */
  rare: readonly LoadedDesign[]
}

const rareHosts = 3

/** Returns the rare fingerprint of a host. The few hosts that have one are spread over the fleet. */
const rareOf = ({ rare }: DesignPool, index: number, agents: number): LoadedDesign | undefined => {
  const stride = Math.floor(agents / rare.length)
  return stride > rareHosts && index % stride < rareHosts ? rare[Math.floor(index / stride)] : undefined
}

export const columns = {
  agents:
    'agent_id,host,address,public_key,key_algorithm,machine_id_hash,smbios_hash,enrolled_at,facts,nics,nics_text,pc_model,os_name,version,enforcement,latest_events,risk_factors',
  agent_rows:
    'agent_id,host,address,last_configured,first_seen,os_id,version_id,severity,risk,approved_present,approved_gone,not_approved,ethernets,license,armed,connected,agentless,unapproved,vulnerable,attack_tool,violation,tags',
  agent_heartbeats: 'agent_id,last_seen,boot_id,inventory_hash,facts_hash,seq,connected',
  agent_search: 'agent_id,search',
  agent_tags: 'agent_id,tag_id',
  peripherals:
    'agent_id,device_id,design_id,port_path,serial,serial_folded,first_seen,last_seen,speed,severity,present',
} as const

export type Table = keyof typeof columns
export type Rows = Record<Table, Value[][]>

const dayMs = 86_400_000
const fleetAgeMs = 400 * dayMs
/** Heartbeats are in the future, so that no host becomes disconnected during a measurement. */
const aheadMs = 3_600_000
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')
const ports = ['1-1', '1-2', '1-3', '1-4', '1-5', '1-6', '1-7', '1-1.1', '1-1.2', '1-1.3', '1-1.4', '2-1', '2-2', '2-3']

/** Picks common items often and rare ones rarely: rank n about as often as 1/n. */
const zipf = <T>(items: readonly T[], random: Random): T =>
  items[Math.min(items.length - 1, Math.floor(items.length ** random.next()) - 1)] as T

const hasSerial = (design: LoadedDesign): boolean => Buffer.from(design.descriptors, 'base64')[16] !== 0

const drawDesigns = (
  pool: DesignPool,
  count: number,
  random: Random,
  rare: LoadedDesign | undefined,
): LoadedDesign[] => {
  const designs = Array.from({ length: count }, () => zipf(pool.plain, random))
  if (random.chance(0.06) && pool.vulnerable.length > 0) designs[0] = zipf(pool.vulnerable, random)
  if (random.chance(0.003) && pool.attack.length > 0) designs[count - 1] = zipf(pool.attack, random)
  if (rare !== undefined) designs[count > 2 ? 1 : 0] = rare
  return designs
}

export interface HostOptions {
  index: number
  /** Number of hosts in the fleet. */
  agents: number
  random: Random
  pool: DesignPool
  peripherals: number
  /** Dictionary ids of operating systems and versions. */
  dictionary: ReadonlyMap<string, number>
  /** Ids of all tags by name, including the tags that few hosts have. */
  tagOf: ReadonlyMap<string, number>
  rareTags: readonly string[]
  nowMs: number
  /** Creates a real key pair and returns the host, for a benchmark that simulates it. */
  isPlayed: boolean
}

/** Adds the rows of host number `index`. */
export const addHost = (rows: Rows, o: HostOptions): PlayedHost | undefined => {
  const { random } = o
  const host = createHost(o.index, random, 'bench')
  // In the order of the ids, as a fleet grows. Random ids would slow down loading every key index.
  const enrolledMs = Math.floor(o.nowMs - (1 - o.index / o.agents) * fleetAgeMs)
  const agentId = newId(enrolledMs)
  const facts = storedFacts(agentId, host.facts, o.dictionary)
  const isConnected = o.isPlayed || random.chance(0.92)
  const lastSeen = new Date(
    isConnected ? o.nowMs + aheadMs + random.next() * 60_000 : o.nowMs - random.next() * 30 * dayMs,
  )

  const designs = drawDesigns(o.pool, o.peripherals, random, rareOf(o.pool, o.index, o.agents))
  const devices: DeviceReport[] = designs.map((design, i) => ({
    portPath: ports[i] ?? `3-${i}`,
    descriptors: design.descriptors,
    manufacturer: design.manufacturer,
    product: design.product,
    configuration: design.configuration,
    ...(hasSerial(design) ? { serial: random.hex(12) } : {}),
    authorized: true,
  }))
  const goneFrom = devices.length - (random.chance(0.3) ? random.between(1, 2) : 0)
  const present = devices.slice(0, Math.max(1, goneFrom))
  const presentDesigns = designs.slice(0, present.length)
  const ids = assignDeviceIds(
    devices.map(({ portPath, serial }, i) => ({ vid: designs[i]!.vid, pid: designs[i]!.pid, serial, portPath })),
  )
  const severity = Math.max(10, ...presentDesigns.map((d) => d.severity))
  const isVulnerable = presentDesigns.some((d) => d.vulnerable)
  const isAttacked = presentDesigns.some((d) => d.attack_tool > 0)
  const hash = inventoryHash(present)
  const key = o.isPlayed ? generateKeyPairSync('ed25519') : undefined
  const publicKey =
    key?.publicKey.export({ type: 'spki', format: 'der' }) ?? Buffer.concat([spkiPrefix, randomBytes(32)])

  rows.agents.push([
    agentId,
    facts.host,
    facts.address,
    publicKey,
    'Ed25519',
    host.machineIdHash,
    host.smbiosHash,
    new Date(enrolledMs),
    facts.facts as object,
    // As text, because COPY would take an array for a PostgreSQL array.
    JSON.stringify(facts.nics),
    facts.nicsText,
    facts.pcModel,
    facts.osName,
    facts.version,
    facts.enforcement,
    designs
      .slice(0, 3)
      .map(
        (d) =>
          `${lastSeen.toISOString().slice(0, 19).replace('T', ' ')} New USB peripheral detected: [Agent] Device VID/PID are ${d.vid}/${d.pid}  (${d.model})`,
      ),
    '[]',
  ])
  const tags = [
    ...(o.tagOf.has(host.department.name) ? [host.department.name] : []),
    ...(random.chance(0.05) ? [random.pick(o.rareTags)] : []),
  ]
  // Joined in the same way as by the trigger on tags, which would write each row twice.
  const tagText = tags.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).join(',')
  rows.agent_rows.push([
    agentId,
    facts.host.toLowerCase(),
    facts.address,
    new Date(enrolledMs + random.next() * dayMs),
    new Date(enrolledMs),
    facts.osId,
    facts.versionId,
    severity,
    isAttacked ? 80 : isVulnerable ? 22 : 0,
    present.length,
    devices.length - present.length,
    0,
    facts.ethernets,
    random.chance(0.98) ? 3 : random.between(0, 2),
    random.chance(0.2),
    isConnected,
    random.chance(0.03),
    random.chance(0.01),
    isVulnerable,
    isAttacked,
    random.chance(0.01),
    tagText,
  ])
  rows.agent_heartbeats.push([
    agentId,
    lastSeen,
    randomUUID(),
    hash,
    factsHash(host.facts),
    random.between(1, 100_000),
    isConnected,
  ])
  rows.agent_search.push([agentId, tags.length === 0 ? facts.search : `${facts.search}\n${tagText.toLowerCase()}`])
  for (const tag of tags) rows.agent_tags.push([agentId, o.tagOf.get(tag) as number])
  devices.forEach((device, i) => {
    const design = designs[i] as LoadedDesign
    const serial = device.serial ?? ''
    const seen = new Date(enrolledMs + random.next() * (o.nowMs - enrolledMs))
    rows.peripherals.push([
      agentId,
      ids[i] as string,
      design.design_id,
      device.portPath,
      serial,
      serial.toLowerCase(),
      seen,
      seen,
      480,
      design.severity,
      i < present.length,
    ])
  })
  return key === undefined ? undefined : { agentId, privateKey: key.privateKey, inventoryHash: hash, devices: present }
}
