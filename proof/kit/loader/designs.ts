/** Seeds several thousand fingerprints through the agent protocol, so that the server evaluates them itself. */
import { readFileSync } from 'node:fs'
import { inventoryHash, parseUsbIds } from '@portcullis/domain'
import { buildDevice } from '@portcullis/domain/testing'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import { createHostAgent } from '../../../cli/simulator/host-agent.ts'
import { createHost } from '../../../cli/simulator/hosts.ts'
import { makeDevice } from '../../../cli/simulator/inventory.ts'
import { attackTools, type Model, models } from '../../../cli/simulator/models.ts'
import { createRandom, type Random } from '../../../cli/simulator/random.ts'
import { createTransport } from '../../../cli/simulator/transport.ts'
import { createWaits } from '../../../cli/simulator/waits.ts'

interface Product {
  vid: string
  pid: string
  vendor: string
  name: string
}

const productsOf = (usbIds: string): Product[] => {
  const { vendors, products } = parseUsbIds(usbIds)
  return [...products].map(([key, name]) => {
    const vid = key.slice(0, 4)
    return { vid, pid: key.slice(4), vendor: vendors.get(vid) ?? '', name }
  })
}

const guesses: readonly (readonly [RegExp, readonly string[]])[] = [
  [/keyboard/i, ['03:01:01', '03:00:00']],
  [/mouse|trackball/i, ['03:01:02']],
  [/flash|disk|drive|storage|card reader/i, ['08:06:50']],
  [/camera|webcam/i, ['0e:01:00', '0e:02:00']],
  [/headset|audio|speaker|microphone/i, ['01:01:00', '01:02:00']],
  [/printer|laserjet|deskjet/i, ['07:01:02']],
  [/ethernet|lan|network/i, ['02:06:00', '0a:00:00']],
  [/bluetooth/i, ['e0:01:01']],
  [/hub/i, ['09:00:00']],
]

/** Creates a device from a product of usb.ids, with a kind guessed from its name and typical strings for the kind. */
const tailDevice = ({ vid, pid, vendor, name }: Product, random: Random): Omit<DeviceReport, 'portPath'> => {
  const interfaces = guesses.find(([pattern]) => pattern.test(name))?.[1] ?? ['ff:00:00']
  const { portPath: _, ...device } = buildDevice({
    vid,
    pid,
    bcdDevice: `0${random.between(100, 399)}`,
    manufacturer: vendor.slice(0, 60),
    product: name.slice(0, 60),
    ...(random.chance(0.4) ? { serial: random.hex(12) } : {}),
    speedMbps: 480,
    interfaces: [...interfaces],
  })
  return device
}

/** Returns devices with `count` fingerprints: every revision of the simulator's models, then products of usb.ids. */
const devicesOf = (count: number, usbIds: string, random: Random): Omit<DeviceReport, 'portPath'>[] => {
  const known: Model[] = [...Object.values(models).flat(), ...attackTools]
  const devices = known.flatMap((model) =>
    model.revisions.map((revision) => makeDevice({ ...model, revisions: [revision] }, random)),
  )
  const products = productsOf(usbIds)
  while (devices.length < count) devices.push(tailDevice(random.pick(products), random))
  return devices.slice(0, count)
}

const devicesPerHost = 100

/**
 * Enrols a few hosts that have devices with `count` fingerprints in total. Returns the agent ids. The caller removes
 * the agents; the fingerprints and models stay.
 */
export const seedDesigns = async (options: {
  url: string
  ca: string | undefined
  token: string
  count: number
  usbIdsFile: string
}) => {
  const random = createRandom(7)
  const devices = devicesOf(options.count, readFileSync(options.usbIdsFile, 'utf8'), random)
  const transport = createTransport({
    server: new URL(options.url),
    connections: 4,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  })
  const agentIds: string[] = []
  for (let start = 0; start < devices.length; start += devicesPerHost) {
    const reports = devices
      .slice(start, start + devicesPerHost)
      .map((device, i) => ({ portPath: `1-${1 + Math.floor(i / 10)}.${1 + (i % 10)}`, ...device }))
    const agent = createHostAgent({
      host: createHost(start, random, 'designs'),
      inventory: {
        isAttacked: false,
        devices: () => reports,
        hash: () => inventoryHash(reports),
        enforce: () => {},
        changes: () => [],
        changeDevices: () => {
          throw new Error('a host that only loads fingerprints does not change its devices')
        },
      },
      transport,
      clock: { now: () => Date.now() },
      waits: createWaits(),
      failed: (what) => process.stderr.write(`designs: ${what}\n`),
    })
    await agent.join(options.token)
    await agent.checkIn(undefined, () => {})
    agentIds.push(agent.identity()?.agentId as string)
  }
  transport.close()
  return agentIds
}
