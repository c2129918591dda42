import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir, until } from '../harness.ts'
import { bundleForWine } from './bundle.ts'
import { startOrders } from './orders.ts'

interface Report {
  policies: string
  /** Ports of devices that work. */
  working: string[]
}

describe('a Windows host of a real server, under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  let server: RunningServer
  let orders: Awaited<ReturnType<typeof startOrders>>
  let run: ReturnType<WineRoot['start']>
  const dir = temporaryDir()

  beforeAll(async () => {
    root = await createWineRoot()
    root.add('chain-agent.cjs', await bundleForWine('e2e/windows/guest/chain-agent.ts'))
    server = await startServer(dir, { PORTCULLIS_ADMIN_PASSWORD: adminPassword })
    orders = await startOrders()
    // Values that an administrator set, and that Free must restore.
    run = root.start(`
wine reg add 'HKLM\\Software\\Policies\\Microsoft\\Windows\\Other' /v Kept /d yes /f
ORDERS=${orders.url} wine /agent/node.exe 'Z:\\agent\\chain-agent.cjs' --server ${server.url} --token ${await server.enrolmentToken()} --log-level debug </dev/null >agent.txt 2>&1
cat agent.txt`)
  }, 600_000)
  afterAll(async () => {
    await run?.stop()
    orders?.close()
    await server?.stop()
    root?.remove()
    remove(dir)
  })

  const reported = async (): Promise<Report> => {
    const count = orders.answers.length
    orders.send({ report: true })
    const { value } = await until('an answer of the host', () => orders.answers[count])
    return JSON.parse(value) as Report
  }
  const host = async () => {
    const [found] = await server.agents()
    return found === undefined ? undefined : server.agent(found.uuid)
  }
  const device = async (portPath: string) =>
    (await host())?.peripherals.find((one) => one.hierarchy === portPath && one.present)
  const configure = (uuid: string, isSystemArmed: 'ARM' | 'FREE') =>
    server.post('agents/configuration', [
      { uuid, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed } },
    ])

  it('is armed after the setting allows it, blocks, follows an approval within a second, and is freed', async () => {
    orders.send({ plug: plainKeyboard({ portPath: '1-1' }) })
    const { value: uuid } = await until('the host with its keyboard', async () => {
      const found = await host()
      return (await device('1-1')) === undefined ? undefined : found?.uuid
    })
    const { ms: arrivalMs } = await (async () => {
      orders.send({ plug: storageStick({ portPath: '1-2', serial: 'FIRST' }) })
      return until('the stick in the console', async () => (await device('1-2')) !== undefined)
    })()
    const before = await reported()
    expect(before.working.sort()).toEqual(['1-1', '1-2'])

    await expect(configure(uuid, 'ARM')).rejects.toThrow('Windows enforcement is a preview and is turned off')
    await server.post('generalconfig/AddOrUpdateVendorA', { VENDORA_WINDOWS_ENFORCEMENT: 'true' })
    await configure(uuid, 'ARM')
    await until('armed', async () => (await host())?.operationalStatus === 'Armed')
    const armed = await reported()
    expect(armed.policies).toContain('"AllowDenyLayered"=dword:00000001')
    expect(armed.policies).toContain('"DenyRemovableDevices"=dword:00000001')
    expect(armed.policies).not.toContain('Retroactive')
    expect(armed.policies).toContain('own key: present')

    orders.send({ plug: storageStick({ portPath: '1-3', serial: 'SECOND' }) })
    await until('the second stick, blocked', async () => (await device('1-3'))?.status === 'Blocked')
    expect((await reported()).working).not.toContain('1-3')
    const waiting = await device('1-3')
    const approvedAt = performance.now()
    await server.post('peripherals/command', {
      opCode: 'APPROVE',
      peripheralsIds: [{ uuid, vid: waiting?.vid, pid: waiting?.pid, deviceID: waiting?.deviceID }],
    })
    await until('the approved stick', async () => (await reported()).working.includes('1-3'))
    console.log(
      `device in the console after ${Math.round(arrivalMs)} ms, approved device works after ${Math.round(performance.now() - approvedAt)} ms`,
    )

    await configure(uuid, 'FREE')
    await until('free', async () => (await host())?.operationalStatus === 'Free')
    const free = await reported()
    expect(free.policies).toBe(before.policies)
    expect(free.working.sort()).toEqual(['1-1', '1-2', '1-3'])
  })
})
