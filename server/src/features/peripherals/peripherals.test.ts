import type { Peripheral } from '@portcullis/contract'
import { hub, storageStick } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, pageOf } from '#test/builders.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('the parent of a peripheral', () => {
  it('is null where there is none, and hierarchy is text', async () => {
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
