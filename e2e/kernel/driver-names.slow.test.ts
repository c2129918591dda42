import { driversOf, isKnownDriver } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { driversOfKernel, kernelsWithDrivers } from './driver-names.ts'

/** Booting and loading 600 modules takes up to 80 s in emulation, and several times as long under load. */
const TIMEOUT_MS = 700_000

/** Modules that cannot be loaded in the emulated machine: one needs parameters, the others need another hypervisor. */
const NOT_LOADABLE = ['xusbatm', 'hv_vmbus', 'hid_hyperv']

describe('the driver table', () => {
  for (const { release, files, whyNot } of kernelsWithDrivers())
    describe(`has the drivers of the kernel in ${release}`, unless(whyNot), () => {
      it('for every HID device and every USB interface', { timeout: TIMEOUT_MS }, async () => {
        const dir = temporaryDir()
        try {
          const { release: kernel, drivers, notLoaded } = await driversOfKernel(files, dir)
          const names = (bus: 'usb' | 'hid') => drivers.filter((one) => one.bus === bus).map(({ name }) => name)
          console.log(`${kernel}: ${names('usb').length} USB drivers, ${names('hid').length} HID drivers`)
          expect(notLoaded.filter((name) => !NOT_LOADABLE.includes(name))).toEqual([])
          expect([names('usb').length > 300, names('hid').length > 100]).toEqual([true, true])
          // `node e2e/kernel/write-driver-names.ts` adds what is missing.
          expect(drivers.filter(({ name }) => !isKnownDriver(name))).toEqual([])
          const allowed = new Set(driversOf('HID').hid)
          expect(names('hid').filter((name) => !allowed.has(name))).toEqual([])
        } finally {
          remove(dir)
        }
      })
    })
})
