/** One device on hosts that return all, part and none of its descriptors. */

import { usageDescriptor, windowsReports } from '@portcullis/domain'
import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeviceReport, Peripheral } from '#features/contract.ts'

let t: TestApp
const hosts: Record<'linux' | 'windows' | 'refused', Awaited<ReturnType<typeof enrolAgent>>> = {} as never

const keyboard = Buffer.from('05010906a101050719e029e715002501750195088102c0', 'hex').toString('base64')
const media = Buffer.from('050c0901a10115002501750195018102c0', 'hex').toString('base64')
const linux = plainKeyboard({ reportDescriptors: [keyboard, media] })
const windows = { ...linux, reportDescriptors: [usageDescriptor([[1, 6]]), usageDescriptor([[12, 1]])] }
const instance = 'USB\\VID_413C&PID_2113\\5&2AB01C3&0&1'
const [refused] = windowsReports([
  {
    ...{ InstanceId: instance, HardwareID: ['USB\\VID_413C&PID_2113&REV_0110'] },
    ...{
      BusReportedDeviceDesc: 'Dell KB216 Wired Keyboard',
      LocationPaths: ['PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(1)'],
    },
  },
  ...['SubClass_01&Prot_01', 'SubClass_00&Prot_00'].map((code, i) => ({
    ...{ InstanceId: `USB\\VID_413C&PID_2113&MI_0${i}\\6&1&0&000${i}`, Parent: instance },
    CompatibleID: [`USB\\Class_03&${code}`],
  })),
])

const verdictOf = ({ devIconDescription, severity, attackTool, vulnerability }: Peripheral) => ({
  ...{ devIconDescription, severity, attackTool, vulnerability },
})
const onlyOf = async (host: keyof typeof hosts): Promise<Peripheral> => {
  const [device] = await hosts[host].peripherals()
  if (device === undefined) throw new Error(`${host} has no device`)
  return device
}
const missing = async () => ({
  linux: (await onlyOf('linux')).missingEvidence,
  windows: (await onlyOf('windows')).missingEvidence,
  refused: (await onlyOf('refused')).missingEvidence,
})
const expected = {
  linux: [],
  windows: ['report-descriptors'],
  refused: ['descriptors', 'report-descriptors', 'strings', 'speed', 'port'],
}

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  hosts.linux = await enrolAgent(t, { devices: [linux] })
  hosts.windows = await enrolAgent(t, { devices: [windows] })
  hosts.refused = await enrolAgent(t, { devices: [refused?.report as DeviceReport] })
})
afterAll(() => t.close())

describe('a verdict', () => {
  it('names the evidence that the report of the host lacks, and is otherwise the same', async () => {
    expect(await missing()).toEqual(expected)
    const verdict = verdictOf(await onlyOf('linux'))
    expect(verdictOf(await onlyOf('windows'))).toEqual(verdict)
    expect(verdictOf(await onlyOf('refused'))).toEqual(verdict)
    expect((await onlyOf('windows')).fpData).toBe((await onlyOf('linux')).fpData)
    expect((await hosts.windows.detail()).peripherals).toMatchObject([{ missingEvidence: ['report-descriptors'] }])
  })

  it('names it in exports', async () => {
    const linesOf = async (form: string) => {
      const body = { form, columns: ['missingEvidence'] }
      const csv = await (await t.admin()).post('/prime/webui/peripherals/exportperipheralscsv', body)
      return csv.body.replace('\ufeff', '').trim().split('\r\n').sort()
    }
    const cells = ['""', '"descriptors, report-descriptors, strings, speed, port"', 'report-descriptors']
    expect(await linesOf('fixed')).toEqual(['missingEvidence', ...cells].sort())
    expect(await linesOf('readable')).toEqual(['Not examined', ...cells].sort())
  })

  it('names it after an upgrade from a release that did not', async () => {
    await t.server.db.execute(sql`update designs set missing_evidence = '{}', knowledge_version = 'an older one'`)
    expect((await missing()).refused).toEqual([])
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    try {
      await expect.poll(missing, { timeout: 10_000 }).toEqual(expected)
    } finally {
      await other.close()
    }
  })
})
