import {
  type Agent,
  type AssetAgent,
  AssetMessage,
  type AssetPeripheral,
  type Peripheral,
} from '@portcullis/features/contract.ts'
import { Compile } from 'typebox/compile'
import type { TestApp } from './app.ts'
import { pageOf } from './builders.ts'

const check = Compile(AssetMessage)

/** Parses a body of NDJSON and checks each message against the contract. */
export const messagesOf = (text: string): AssetMessage[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const value: unknown = JSON.parse(line)
      if (!check.Check(value))
        throw new Error(`not a message: ${line} ${JSON.stringify([...check.Errors(value)].slice(0, 4))}`)
      return value
    })

/** Reads all messages after a position over HTTP. */
export const readStream = async (t: TestApp, after = 0, query = ''): Promise<AssetMessage[]> => {
  const answer = await (await t.admin()).get(`/prime/webui/assetproducer/stream?follow=false&after=${after}${query}`)
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return messagesOf(answer.body)
}

/**
 * Creates a consumer that follows the documented rule: the newest message of an asset applies, older ones change
 * nothing.
 */
export const createFollower = () => {
  const assets = new Map<string, { sequence: string; data: AssetAgent | AssetPeripheral | null }>()
  const ids = new Map<string, string>()
  let position = 0
  let duplicates = 0
  return {
    assets,
    get position() {
      return position
    },
    /** Number of repeated messages. */
    get duplicates() {
      return duplicates
    },
    apply: (message: AssetMessage): void => {
      const known = ids.get(message.id)
      if (known !== undefined && known !== message.subject)
        throw new Error(`id ${message.id} names ${known} and ${message.subject}`)
      if (known !== undefined) duplicates++
      ids.set(message.id, message.subject)
      position = Math.max(position, Number(message.sequence))
      if (message.type !== 'asset.upserted' && message.type !== 'asset.removed') return
      const held = assets.get(message.subject)
      if (held !== undefined && held.sequence > message.sequence) return
      assets.set(message.subject, {
        sequence: message.sequence,
        data: message.type === 'asset.removed' ? null : (message.data as AssetAgent | AssetPeripheral),
      })
    },
    /** Returns the current assets by subject. */
    held: (): Record<string, AssetAgent | AssetPeripheral> =>
      Object.fromEntries(
        [...assets]
          .filter(([, { data }]) => data !== null)
          .map(([subject, { data }]) => [subject, data as AssetAgent | AssetPeripheral] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
  }
}

const tagsOf = (text: string): string[] => (text === '' ? [] : text.split(','))

/** Reads the inventory from lists and details, in the shape of the stream. */
export const inventoryOf = async (
  get: <T>(path: string) => Promise<T>,
): Promise<Record<string, AssetAgent | AssetPeripheral>> => {
  const all: [string, AssetAgent | AssetPeripheral][] = []
  const agents = await get<{ data: Agent[] }>('agents?PageSize=1000000')
  for (const a of agents.data) {
    const detail = await get<{ nics: AssetAgent['nics'] }>(`agents/agent/${a.uuid}`)
    all.push([
      `agent/${a.uuid}`,
      {
        uuid: a.uuid,
        hostIdentifier: a.hostIdentifier,
        address: a.localIpAddress,
        subnet: '',
        nics: detail.nics,
        os: a.osVersion,
        version: a.serviceVersion,
        pcModel: a.pcModel,
        deploymentMode: a.deploymentMode,
        operationalStatus: a.operationalStatus,
        hashtags: tagsOf(a.hashtags),
        location: {
          address: a.localIpAddress,
          subnet: '',
          switchIp: a.connectedSwitchIp,
          switchName: a.connectedSwitchName,
          portId: a.connectedPortId,
          portName: a.connectedPortName,
        },
        firstSeen: `${a.firstSeen}Z`,
      },
    ])
  }
  const peripherals = await get<{ data: Peripheral[] }>('peripherals?PageSize=1000000')
  for (const p of peripherals.data)
    all.push([
      `peripheral/${p.uuid}/${p.deviceID}`,
      {
        uuid: p.uuid,
        deviceID: p.deviceID,
        vid: p.vid,
        pid: p.pid,
        bcdDevice: p.bcdDevice,
        serialNumber: p.serialNumber,
        manufacturer: p.manufacturer,
        product: p.caption,
        vendor: p.guiVid,
        kind: p.devIconDescription,
        portPath: p.hierarchy,
        interfaces: p.interfaces,
        present: p.present,
        hashtags: tagsOf(p.hashtags),
        firstSeen: `${p.firstSeen}Z`,
      },
    ])
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const inventoryOfApp = (t: TestApp): ReturnType<typeof inventoryOf> =>
  inventoryOf(<T>(path: string) => pageOf(t, path) as Promise<T>)
