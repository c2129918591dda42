import { buildDescriptors } from '@portcullis/domain/testing'
import { expect, it } from 'vitest'
import { besideUsual, reportOf } from './identity.ts'

it('compares the power of the active configuration', () => {
  const descriptors = buildDescriptors({ vid: '1A2B', pid: '0001', interfaces: ['08:06:50'], moreConfigurations: [[]] })
  // bMaxPower of the second configuration, in units of 2 mA, is the last byte.
  descriptors.writeUInt8(250, descriptors.length - 1)
  const device = (configuration_value: number | null) =>
    reportOf({
      ...{ descriptors, manufacturer: '', product: '', configuration: '', serial: '', speed: 480, port_path: '1-1' },
      configuration_value,
    })
  const power = (value: number | null) =>
    besideUsual(device(value), device(null)).find(({ field }) => field === 'Power draw')?.device
  expect([power(null), power(1), power(2)]).toEqual(['100 mA', '100 mA', '500 mA'])
})
