import {
  flipperBadUsb,
  hostileStrings,
  hub,
  keyboardBehindHubs,
  phone,
  plainKeyboard,
  rubberDucky,
  securityKeyBehindHub,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
} from '@portcullis/domain/testing'
import type { FleetEvent, Peripheral } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKernelTree } from '../agent/test/harness.ts'
import {
  createTree,
  type RunningServer,
  remove,
  type Started,
  startAgent,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'

let server: RunningServer
let token: string
const dirs: string[] = []
const agents: Started[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}

beforeAll(async () => {
  server = await startServer(folder())
  token = await server.enrolmentToken()
})
afterAll(async () => {
  for (const { child, ended } of agents) {
    child.kill('SIGTERM')
    await ended
  }
  await server.stop()
  for (const dir of dirs) remove(dir)
})

/** Starts an agent on a tree and waits for its host. Each test has its own host. */
const host = async (tree: { dir: string; monitor?: string }) => {
  const known = new Set((await server.agents()).map((a) => a.uuid))
  const agent = startAgent(server, token, tree, folder())
  agents.push(agent)
  const { value, ms } = await until(
    `a host with its inventory:\n${agent.output()}`,
    async () => {
      const fresh = (await server.agents()).find((a) => !known.has(a.uuid))
      if (fresh === undefined) return undefined
      // All agents of this machine share its host name, so only the details identify the inventory.
      const { recentEvents } = await server.agent(fresh.uuid)
      return recentEvents.some((e) => e.eventCode === '0x120001') ? fresh : undefined
    },
    30_000,
  )
  return { uuid: value.uuid, ms, agent }
}

const lastEvent = async (): Promise<number> => (await server.events())[0]?.eventID ?? 0

/** Times from the change in the tree to the list and the events of the server. */
const measured: number[] = []
const shows = async (
  uuid: string,
  after: number,
  what: string,
  seen: (p: Peripheral) => boolean,
  code?: string,
): Promise<Peripheral> => {
  const startedAt = performance.now()
  const { value } = await until(
    what,
    async () => {
      const [rows, events] = await Promise.all([
        server.agent(uuid).then((a) => a.peripherals),
        code === undefined ? Promise.resolve<FleetEvent[]>([]) : server.events(after + 1),
      ])
      const row = rows.find(seen)
      return row !== undefined && (code === undefined || events.some((e) => e.eventCode === code)) ? row : undefined
    },
    10_000,
  )
  measured.push(performance.now() - startedAt)
  return value
}

describe('a device that is attached while the agent runs', () => {
  it('appears in the list and the events within a second, with the correct kind, name and verdict', async () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1' })])
    dirs.push(tree.dir)
    const { uuid, ms } = await host(tree)
    console.log(`first inventory ${Math.round(ms)} ms after the start of the agent`)
    expect((await server.agent(uuid)).peripherals).toMatchObject([
      {
        vid: '413C',
        pid: '2113',
        devIcon: 1,
        devIconDescription: 'Keyboard',
        present: true,
        severity: 10,
        guiVid: 'Dell Computer Corp.',
      },
    ])

    const cases = [
      [
        storageStick({ portPath: '1-2' }),
        { devIcon: 3, guiVid: 'SanDisk Corp.', serialNumber: '4C530001230615112345', attackTool: '', severity: 10 },
      ],
      [rubberDucky({ portPath: '1-3' }), { devIcon: 1, isKnownAttackTool: true, vid: '03EB', pid: '2401' }],
      [flipperBadUsb({ portPath: '1-4' }), { devIcon: 1, isKnownAttackTool: true, vid: '046D', pid: 'C529' }],
      [
        unifyingReceiver1207({ portPath: '1-5' }),
        { isKnownAttackTool: false, isVulnerablePeripheral: true, severity: 30, bcdDevice: '1207' },
      ],
      [spoofedUnifying({ portPath: '1-6' }), { isKnownAttackTool: true, bcdDevice: '1207' }],
      [hub({ portPath: '1-7' }), { devIcon: 4, severity: 10 }],
      [
        phone({ portPath: '1-7.1' }),
        { severity: 10, vid: '18D1', hierarchy: '1-7.1', parentDeviceID: 'USB\\VID_0BDA&PID_5411\\1-7' },
      ],
      [hostileStrings('html', { portPath: '1-7.2' }), { manufacturer: '<img src=x onerror=alert(document.domain)>' }],
      [hostileStrings('formula', { portPath: '1-7.3' }), { manufacturer: "=cmd|' /C calc'!A0" }],
      [hostileStrings('rightToLeft', { portPath: '1-7.4' }), { manufacturer: 'gnp.exe abc' }],
      [hostileStrings('longest', { portPath: '2-1' }), { vid: '0781', present: true }],
      [hostileStrings('nul', { portPath: '2-2' }), { vid: '0781', present: true }],
    ] as const
    for (const [device, expected] of cases) {
      const after = await lastEvent()
      tree.plug(device)
      const row = await shows(
        uuid,
        after,
        `${device.portPath} is shown`,
        (p) => p.hierarchy === device.portPath && p.present,
        '0x110001',
      )
      expect(row, device.portPath).toMatchObject(expected)
    }
    const list = (await server.agents()).find((a) => a.uuid === uuid)
    expect(list).toMatchObject({ hasKnownAttackTools: true, hasVulnerablePeripherals: true, approvedAndPresent: 13 })
    expect(list?.severity).toBeGreaterThanOrEqual(40)
    const codes = (await server.events()).map((e) => e.eventCode)
    expect(codes.filter((code) => code === '0x110010')).toHaveLength(3)
    expect(codes).toContain('0x110012')

    for (const portPath of ['1-2', '1-7.1']) {
      const after = await lastEvent()
      tree.unplug(portPath)
      const gone = await shows(
        uuid,
        after,
        `${portPath} is gone`,
        (p) => p.hierarchy === portPath && !p.present,
        '0x110003',
      )
      expect(gone.status).toBe('Gone')
    }
    tree.change(plainKeyboard({ portPath: '1-1', authorized: false }))
    expect((await shows(uuid, 0, 'the keyboard is cut off', (p) => p.hierarchy === '1-1' && p.isDisabled)).status).toBe(
      'Blocked',
    )

    const sorted = measured.toSorted((a, b) => a - b)
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
    console.log(`change to list and events: ${sorted.length} changes, median ${at(0.5)} ms, slowest ${at(1)} ms`)
    // One slow result is accepted, because the machine may be busy.
    expect(sorted.filter((ms) => ms > 1_000).length).toBeLessThanOrEqual(1)
    expect(at(0.5)).toBeLessThan(1_000)
  })

  it('is detected by polling if the kernel sends no events', async () => {
    const tree = createTree()
    dirs.push(tree.dir)
    const { uuid } = await host({ dir: tree.dir })
    const after = await lastEvent()
    tree.plug(storageStick({ portPath: '1-1', serial: 'POLLED' }))
    await shows(uuid, after, 'the stick is shown', (p) => p.hierarchy === '1-1', '0x110001')
  })

  it('during an outage of the server is reported afterwards', async () => {
    const tree = createTree([plainKeyboard()])
    dirs.push(tree.dir)
    const { uuid, agent } = await host(tree)
    const after = await lastEvent()
    agent.child.kill('SIGSTOP')
    tree.plug(storageStick({ portPath: '1-2', serial: 'OUTAGE' }))
    tree.unplug('1-1')
    agent.child.kill('SIGCONT')
    await shows(uuid, after, 'the stick is shown', (p) => p.hierarchy === '1-2' && p.present, '0x110001')
    await shows(uuid, after, 'the keyboard is gone', (p) => p.hierarchy === '1-1' && !p.present, '0x110003')
  })
})

describe('a tree with links, as in a kernel', () => {
  it.each([
    ['a keyboard behind hubs', keyboardBehindHubs(), ['05F3:0007', '05F3:0081']],
    ['a security key behind a hub', securityKeyBehindHub(), ['1050:0120']],
  ])('is reported with its devices: %s', async (_what, devices, expected) => {
    const { uuid } = await host({ dir: createKernelTree(devices, folder()) })
    const rows = (await server.agent(uuid)).peripherals
    expect(rows.map((p) => `${p.vid}:${p.pid}`)).toEqual(expect.arrayContaining(expected))
    for (const row of rows) {
      expect(row.guiVid, row.deviceID).not.toBe('')
      expect(row.isKnownAttackTool, row.deviceID).toBe(false)
    }
  })
})
