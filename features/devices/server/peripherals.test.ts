import { hub, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Peripheral } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('the parent of a peripheral', () => {
  it('is null at a root port, and hierarchy is text', async () => {
    const agent = await enrolAgent(t, { devices: [hub({ portPath: '1-7' }), storageStick({ portPath: '1-7.1' })] })
    const places = (rows: readonly Peripheral[]) => rows.map((row) => [row.hierarchy, row.parentDeviceID]).sort()
    const expected = [
      ['1-7', null],
      ['1-7.1', 'USB\\VID_0BDA&PID_5411\\1-7'],
    ]
    expect(places(await agent.peripherals())).toEqual(expected)
    expect(places((await agent.detail()).peripherals)).toEqual(expected)
    const csv = await (await t.admin()).post('/prime/webui/peripherals/exportperipheralscsv', {
      columns: ['hierarchy', 'parentDeviceID'],
      sortBy: 'hierarchy_asc',
    })
    expect(csv.body.replace('\ufeff', '')).toBe(
      'hierarchy,parentDeviceID\r\n1-7,\r\n1-7.1,USB\\VID_0BDA&PID_5411\\1-7\r\n',
    )
    const { data } = await pageOf<Peripheral>(t, 'peripherals?SortBy=parentDeviceID_desc')
    expect(data.map((row) => row.hierarchy)).toEqual(['1-7', '1-7.1'])
  })
})

describe('a serial number', () => {
  it('is unique unless vendors reuse it or another host has it', async () => {
    const placeholders = [
      '0',
      '1',
      '1.0',
      '000000',
      '0000-0000',
      'FFFFFFFF',
      '123456',
      '0123456789',
      '0123456789ABCDEF',
      'None',
      'N/A',
    ]
    const own = ['4C530001230615112399', 'A1B2', '100000001', '1234567X']
    const sticks = [...placeholders, ...own].map((serial, i) => storageStick({ portPath: `1-${i + 1}`, serial }))
    const agent = await enrolAgent(t, { devices: sticks })
    const unique = async () => {
      const rows = await agent.peripherals()
      return rows
        .filter((row) => row.uniqueSerial)
        .map((row) => row.serialNumber)
        .sort()
    }
    expect(await unique()).toEqual([...own].sort())
    const other = await enrolAgent(t, { devices: [storageStick({ portPath: '1-1', serial: 'A1B2' })] })
    expect(await unique()).toEqual(own.filter((serial) => serial !== 'A1B2').sort())
    await other.unplug('1-1')
    expect(await unique()).toEqual([...own].sort())
    // A constant of a chip vendor is on different models. A dock has one serial number for its parts.
    await agent.plug(storageStick({ portPath: '2-1', vid: '0BDA', pid: '8153', serial: '1234567X' }))
    expect((await unique()).filter((serial) => serial === '1234567X')).toHaveLength(2)
    const third = await enrolAgent(t, { devices: [storageStick({ vid: '0BDA', pid: '8761', serial: '1234567X' })] })
    expect(await unique()).toEqual(own.filter((serial) => serial !== '1234567X').sort())
    await third.unplug('1-1')
    await agent.unplug('2-1')
    const sorted = await pageOf<Peripheral>(t, 'peripherals?SortBy=uniqueSerial_desc&PageSize=100')
    const flags = sorted.data.map((row) => row.uniqueSerial)
    expect(flags).toEqual([...flags].sort((a, b) => Number(b) - Number(a)))
  })
  it('lists attack tools first, by device, by model and in files, then the newest', async () => {
    await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-4' })] })
    t.clock.advance(60_000)
    await enrolAgent(t, { devices: [storageStick({ portPath: '1-1', serial: 'NEWEST' })] })
    const { data } = await pageOf<Peripheral>(t, 'peripherals?PageSize=100')
    expect(data.map((row) => row.isKnownAttackTool).indexOf(true)).toBe(0)
    expect(data.filter((row) => !row.isKnownAttackTool)[0]?.serialNumber).toBe('NEWEST')
    const models = await pageOf<{ isKnownAttackTool: boolean }>(t, 'peripherals/models')
    expect(models.data[0]?.isKnownAttackTool).toBe(true)
    const admin = await t.admin()
    for (const path of ['peripherals/exportperipheralscsv', 'agents/peripheralsAggExport']) {
      const file = await admin.post(`/prime/webui/${path}`, { columns: ['vid', 'pid', 'isKnownAttackTool'] })
      expect([file.statusCode, file.body.split('\r\n')[1]]).toEqual([200, '03EB,2401,true'])
    }
  })
})
