import { join } from 'node:path'
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { windowsNodes } from '../../agent/test/windows-nodes.ts'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir, until } from '../../proof/kit/harness.ts'
import { startOrders } from '../../proof/kit/windows/orders.ts'
import { buildInstaller, installerName } from '../../scripts/msi/installer.ts'
import { whyNoMsi } from '../../scripts/msi/tools.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { fixtureDevices } from './fixture-devices.ts'
import { restrictions } from './restrictions.ts'

const STATE = '/prefix/drive_c/ProgramData/Portcullis Agent'
const POLICIES = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall\\Restrictions'
/**
 * Limits as multiples of the time that `reg` takes to export the policies at the same moment, because Wine serves both.
 * Under heavy load, arrivals and approvals took 1 to 3 times as long. Waiting for the next check-in would take up to
 * 60 s.
 */
const ARRIVAL_LIMIT = 4
const APPROVAL_LIMIT = 8

/** Devices that stay attached. Others would only make the later steps slower, which write each allowed device. */
const KEPT = fixtureDevices.filter(({ product }) => /Keyboard|Camera|Webcam|Mouse/i.test(product ?? '')).slice(0, 3)

/** Waits until the log of the agent contains an event for the nth time. */
const logged = (event: string, count = 1): string =>
  `for i in $(seq 300); do [ "$(grep -c '"event":"${event}"' "${STATE}/agent.log" 2>/dev/null)" -ge ${count} ] && break; sleep 0.1; done`
const idOf = (report: DeviceReport): string => windowsNodes(report)[0]?.instanceId ?? ''
const stick = (port: number): DeviceReport => storageStick({ portPath: `1-${port}`, serial: `4C53000123061511${port}` })

describe('a Windows host from its installation to its removal, under Wine', unless(whyNoWine() ?? whyNoMsi()), () => {
  let root: WineRoot
  let server: RunningServer
  let orders: Awaited<ReturnType<typeof startOrders>>
  let windows: ReturnType<WineRoot['open']>
  const dir = temporaryDir()

  beforeAll(async () => {
    root = await createWineRoot()
    const out = join(dir, 'msi')
    await buildInstaller({ out, version: '1.0.0', releaseKey: null, entry: 'e2e/windows/guest/chain-agent.ts' })
    root.copy('agent.msi', join(out, installerName('1.0.0')))
    server = await startServer(dir, { PORTCULLIS_ADMIN_PASSWORD: adminPassword })
    orders = await startOrders()
    root.add('orders.txt', orders.url)
    windows = root.open()
    const version = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'
    // Values that an administrator set, and that Free must restore.
    await windows.run(`wine reg add '${version}' /v UBR /t REG_DWORD /d 3000 /f
wine reg add '${version}' /v CurrentBuildNumber /d 22631 /f
wine reg add '${version}' /v EditionID /d Professional /f
wine reg add '${POLICIES}' /v DenyRemovableDevices /t REG_DWORD /d 0 /f
wine reg add '${POLICIES}\\AllowInstanceIDs' /v 7 /d 'USB\\VID_1111&PID_2222\\OTHER' /f`)
  }, 600_000)
  afterAll(async () => {
    await windows?.stop()
    orders?.close()
    await server?.stop()
    root?.remove()
    remove(dir)
  })

  beforeEach(() => onTestFailed(async () => console.log((await windows.run(`tail -40 '${STATE}/agent.log'`)).out)))

  const msiexec = (args: string, after = ':') =>
    windows.run(`wine msiexec ${args} /qn; code=$?; { ${after}; } 2>&1; exit $code`)
  const ask = async <T>(order: object): Promise<T> => {
    const count = orders.answers.length
    orders.send(order)
    const { value } = await until('an answer of the host', () => orders.answers[count], 60_000)
    return JSON.parse(value) as T
  }
  const working = async () => (await ask<{ working: string[] }>({ report: 'working' })).working
  const policies = async () => (await ask<{ policies: string }>({ report: 'policies' })).policies
  const host = async () => {
    const [found] = await server.agents()
    return found === undefined ? undefined : server.agent(found.uuid)
  }
  const device = async (port: string) =>
    (await host())?.peripherals.find(({ hierarchy, present }) => hierarchy === port && present)
  const uuidOf = async () => (await host())?.uuid ?? ''
  const configure = async (isSystemArmed: 'ARM' | 'FREE') =>
    server.post('agents/configuration', [
      { uuid: await uuidOf(), hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed } },
    ])
  /** Attaches a stick and returns the time until the console shows it in a state. */
  const arrival = async (port: number, status?: string): Promise<number> => {
    const { changedAt } = await ask<{ changedAt: number }>({ plug: [stick(port)] })
    await until(`the stick at port ${port}`, async () => {
      const found = await device(`1-${port}`)
      return found !== undefined && (status === undefined || found.status === status)
    })
    return Date.now() - changedAt
  }
  const approval = async (port: number): Promise<number> => {
    const { vid, pid, deviceID } = (await device(`1-${port}`)) ?? {}
    const began = Date.now()
    await server.post('peripherals/command', {
      opCode: 'APPROVE',
      peripheralsIds: [{ uuid: await uuidOf(), vid, pid, deviceID }],
    })
    await until(`the approved stick at port ${port}`, async () => (await working()).includes(`1-${port}`))
    return Date.now() - began
  }
  /** Runs `work` three times. Returns its fastest time as a multiple of the fastest export of the policies. */
  const comparedWithReg = async (what: string, first: number, work: (port: number) => Promise<number>) => {
    const times: number[] = []
    const exports: number[] = []
    for (const port of [first, first + 1, first + 2]) {
      times.push(await work(port))
      const began = Date.now()
      await policies()
      exports.push(Date.now() - began)
    }
    console.log(`${what} after ${times.join(', ')} ms; reg exported the policies in ${exports.join(', ')} ms`)
    return Math.min(...times) / Math.min(...exports)
  }
  let before = ''

  it('is installed with a token that the server refuses, and says why it is not enrolled', async () => {
    const refused = `pce_${'0'.repeat(32)}_${'s'.repeat(43)}`
    const { code, out } = await msiexec(
      `/i 'Z:\\agent\\agent.msi' SERVERURL=${server.url} TOKEN=${refused}`,
      `${logged('not_enrolled')}; wine cmd /c portcullis-agent status; grep not_enrolled '${STATE}/agent.log'`,
    )
    expect([code, out]).toEqual([0, expect.stringMatching(/^identity +not enrolled$/m)])
    expect(out).toMatch(/^last problem +The server refused the enrolment: /m)
    expect(out).toMatch(/"event":"not_enrolled","reason":"The server refused the enrolment: /)
    expect(await server.agents()).toEqual([])
  })

  it('enrols after the same installer got another token, and then keeps its identity', async () => {
    const again = await msiexec(
      `/i 'Z:\\agent\\agent.msi' TOKEN=${await server.enrolmentToken()}`,
      `${logged('watching')}; sha256sum '${STATE}/key.pem'; grep -o '"agentId":"[^"]*"\\|"agentId": "[^"]*"' '${STATE}/identity.json'`,
    )
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('agentId')])
    await until('the host', host)
    const other = await msiexec(
      `/i 'Z:\\agent\\agent.msi' SERVERURL=${server.url} TOKEN=${await server.enrolmentToken()}`,
      `${logged('watching', 2)}; sha256sum '${STATE}/key.pem'; grep -o '"agentId":"[^"]*"\\|"agentId": "[^"]*"' '${STATE}/identity.json'`,
    )
    expect(other).toEqual(again)
    expect(await server.agents()).toHaveLength(1)
  })

  it('reports all devices, their removal, and a new one at once', async () => {
    await ask({ plug: fixtureDevices })
    expect(fixtureDevices.length).toBeGreaterThanOrEqual(30)
    const present = async () => (await host())?.peripherals.filter(({ present }) => present) ?? []
    await until('all devices', async () => (await present()).length === fixtureDevices.length, 60_000)
    expect((await present()).map(({ hierarchy }) => hierarchy).toSorted()).toEqual(
      fixtureDevices.map(({ portPath }) => portPath).toSorted(),
    )
    await ask({ unplug: fixtureDevices.filter((one) => !KEPT.includes(one)).map(({ portPath }) => portPath) })
    await until('the removal', async () => (await present()).length === KEPT.length, 60_000)
    expect(await comparedWithReg('devices in the console', 51, arrival)).toBeLessThan(ARRIVAL_LIMIT)
    before = await policies()
    expect(restrictions(before)).toEqual({
      switches: ['"DenyRemovableDevices"=dword:00000000'],
      AllowInstanceIDs: ['"7"="USB\\\\VID_1111&PID_2222\\\\OTHER"'],
    })
  })

  it('is armed: the registry has exactly the restrictions of the policy, also after the agent was killed', async () => {
    await expect(configure('ARM')).rejects.toThrow('Windows enforcement is a preview and is turned off')
    await server.post('generalconfig/AddOrUpdateVendorA', { VENDORA_WINDOWS_ENFORCEMENT: 'true' })
    const present = await working()
    await configure('ARM')
    await until('armed', async () => (await host())?.operationalStatus === 'Armed', 60_000)
    const text = await policies()
    expect(text).toContain('own key: present')
    const armed = restrictions(text)
    expect(armed.switches).toEqual(
      ['AllowDenyLayered', 'AllowDeviceIDs', 'AllowInstanceIDs', 'DenyDeviceIDs', 'DenyRemovableDevices'].map(
        (name) => `"${name}"=dword:00000001`,
      ),
    )
    expect(armed.AllowDeviceIDs).toEqual(
      ['USB\\\\Class_09', 'USB\\\\USB20_HUB', 'USB\\\\USB30_HUB', 'PORTCULLIS\\\\MANAGED'].map(
        (id, index) => `"${index + 1}"="${id}"`,
      ),
    )
    expect(armed.DenyDeviceIDs).toHaveLength(258)
    expect(armed.DenyDeviceIDs?.join()).not.toContain('Class_09')
    const attached = [...KEPT, stick(51), stick(52), stick(53)]
    expect(present.toSorted()).toEqual(attached.map(({ portPath }) => portPath).toSorted())
    const allowed = (armed.AllowInstanceIDs ?? []).map((line) => /="(.*)"$/.exec(line)?.[1]?.replaceAll('\\\\', '\\'))
    // The known attack tool among the attached devices is blocked.
    const wanted = attached.map(idOf).filter((id) => !id.includes('VID_03EB'))
    expect(wanted).toHaveLength(attached.length - 1)
    expect(allowed.toSorted()).toEqual(wanted.toSorted())

    const killed = await windows.run(`for p in /proc/[0-9]*; do
  tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -q 'node.exe.*agent.cjs. service' && kill -9 \${p#/proc/}
done
for i in $(seq 300); do wine sc query PortcullisAgent | grep -q STOPPED && break; sleep 0.1; done
wine reg query '${POLICIES}' /s | grep -c REG_; wine sc start PortcullisAgent; ${logged('watching', 3)}`)
    expect(killed.out).toMatch(
      new RegExp(`^${Object.values(armed).reduce((sum, values) => sum + values.length, 0)}$`, 'm'),
    )
    expect(restrictions(await policies())).toEqual(armed)
  })

  it('blocks a new device, and lets it work at once after its approval', async () => {
    for (const port of [61, 62, 63]) {
      await arrival(port, 'Blocked')
      expect(await working()).not.toContain(`1-${port}`)
    }
    expect(await comparedWithReg('approved devices work', 61, approval)).toBeLessThan(APPROVAL_LIMIT)
    expect(restrictions(await policies()).AllowInstanceIDs?.join()).toContain(idOf(stick(63)).replaceAll('\\', '\\\\'))
  })

  it('has the registry as before when it is freed', async () => {
    await configure('FREE')
    await until('free', async () => (await host())?.operationalStatus === 'Free')
    expect(await policies()).toBe(before)
    expect((await working()).length).toBe(KEPT.length + 6)
  })

  it('leaves nothing when it is uninstalled', async () => {
    const { code, out } = await msiexec(
      `/x 'Z:\\agent\\agent.msi'`,
      `wineserver -k; find /prefix -iname '*portcullis*'; ls /prefix/drive_c/windows/Installer; grep -il portcullis /prefix/*.reg`,
    )
    expect([code, out]).toEqual([0, ''])
  })
})
