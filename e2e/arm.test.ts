import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import type { Command, PolicyChange } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
import { serverDir } from './prepared.ts'

const main = fileURLToPath(new URL('../agent/src/main.ts', import.meta.url))
let server: RunningServer
let agent: Started
let uuid: string
let tree: ReturnType<typeof createTree>
const dirs = [serverDir(), temporaryDir()]

beforeAll(async () => {
  server = await startServer(dirs[0] as string)
  tree = createTree([plainKeyboard({ portPath: '1-1' })])
  dirs.push(tree.dir)
  agent = startAgent(server, await server.enrolmentToken(), tree, dirs[1] as string)
  const { value } = await until('the host with its inventory', async () => {
    const [host] = await server.agents()
    if (host === undefined) return undefined
    return (await server.agent(host.uuid)).peripherals.length > 0 ? host.uuid : undefined
  })
  uuid = value
}, 90_000)
afterAll(async () => {
  agent.child.kill('SIGTERM')
  await agent.ended
  await server.stop()
  for (const dir of dirs) remove(dir)
})

const kernel = (path: string): string => readFileSync(join(tree.dir, 'bus/usb/devices', path), 'utf8').trim()
const measured: Record<string, number> = {}
const within = async (what: string, look: () => boolean | Promise<boolean>): Promise<void> => {
  const { ms } = await until(`${what}\n${agent.output().slice(-3000)}`, look, 10_000)
  measured[what] = Math.round(ms)
}
const device = async (portPath: string) =>
  (await server.agent(uuid)).peripherals.find((p) => p.hierarchy === portPath && p.present)

it('is armed by one request, blocks devices, authorises approved ones at once, and is freed', async () => {
  await server.post('agents/configuration', [
    { uuid, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
  ])
  await within('armed', async () => (await server.agent(uuid)).operationalStatus === 'Armed')
  expect(kernel('usb1/authorized_default')).toBe('0')
  expect(kernel('1-1/authorized')).toBe('1')
  await within('confirmed', async () => {
    const { data } = await server.get<{ data: Command[] }>(`agents/commands?hostUuid=${uuid}`)
    return data.length === 1 && data[0]?.kind === 'configure' && data[0].state === 'confirmed'
  })
  expect(await device('1-1')).toMatchObject({ guard: 'present', decision: 'block', status: 'OK' })

  tree.plug(storageStick({ portPath: '1-2' }))
  await within('an unapproved stick is shown as blocked', async () => (await device('1-2'))?.status === 'Blocked')
  expect(kernel('1-2/authorized')).toBe('0')
  expect((await server.events()).map((e) => e.eventCode)).toContain('0x110011')
  const waiting = await device('1-2')
  expect(waiting?.caseNumber).toMatch(/^PC-/)
  const status = execFileSync(
    process.execPath,
    [main, 'status', '--state-dir', dirs[1] as string, '--sysfs-root', tree.dir],
    { encoding: 'utf8' },
  )
  expect(status).toContain(waiting?.caseNumber)

  await server.post('peripherals/command', {
    opCode: 'APPROVE',
    peripheralsIds: [{ uuid, vid: waiting?.vid, pid: waiting?.pid, deviceID: waiting?.deviceID }],
  })
  await within('an approved stick works', () => kernel('1-2/authorized') === '1')
  await within('and is shown so', async () => (await device('1-2'))?.status === 'OK')
  expect(await device('1-2')).toMatchObject({ decision: 'allow', adminStatus: 'WLM', guard: '' })

  const { rule } = await server.post<PolicyChange>('policy/rules', {
    effect: 'deny',
    kinds: ['Mass Storage'],
    reason: 'no sticks at the counter',
  })
  await within('a denied stick stops', () => kernel('1-2/authorized') === '0')
  await within('and is shown with the rule', async () => (await device('1-2'))?.rule === rule?.id)

  tree.plug(rubberDucky({ portPath: '1-3' }))
  await within('an attack tool is blocked', async () => (await device('1-3'))?.status === 'Blocked')
  expect((await device('1-3'))?.rule).toBe('attack-tool')

  await server.post('agents/configuration', [
    { uuid, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'free' } },
  ])
  await within('freed', async () => (await server.agent(uuid)).operationalStatus === 'Free')
  expect(kernel('usb1/authorized_default')).toBe('1')
  expect(kernel('1-2/authorized')).toBe('1')
  expect(kernel('1-3/authorized')).toBe('1')
  console.log(`armed host, ms: ${JSON.stringify(measured)}`)
}, 60_000)
