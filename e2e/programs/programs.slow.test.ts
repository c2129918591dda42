import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../proof/kit/kernel/vm.ts'
import { idsOf, type Name, type Rig, startRig } from './debian.ts'
import { whyNoPrograms } from './root.ts'

/** An emulated host of some minutes. */
const WORKS_MS = 60_000

const busctl = (service: string, path: string, method: string): string =>
  `busctl --timeout=60 call ${service} ${path} ${method}`

/** How each program shows that it uses its device. */
const programs: Readonly<
  Record<Name, { program: string; works(rig: Rig, vid: string, pid: string): Promise<boolean> }>
> = {
  iPhone: { program: 'usbmuxd', works: async (rig) => rig.subject('iPhone').uses() > 0 },
  modem: { program: 'usb_modeswitch', works: async (rig) => rig.subject('modem').uses() > 0 },
  player: {
    program: 'libmtp',
    works: async ({ sh }, vid, pid) => (await sh(`properties ${vid} ${pid}`)).includes('ID_MTP_DEVICE=1'),
  },
  camera: {
    program: 'gphoto2',
    works: async ({ sh }, vid, pid) => /^GPHOTO2_DRIVER=PTP$/m.test(await sh(`properties ${vid} ${pid}`)),
  },
  updatable: {
    program: 'fwupd',
    works: async ({ sh }) =>
      (await sh(busctl('org.freedesktop.fwupd', '/', 'org.freedesktop.fwupd GetDevices'))).includes('Boot loader'),
  },
  fingerprintReader: {
    program: 'fprintd',
    works: async ({ sh }) =>
      (
        await sh(
          busctl(
            'net.reactivated.Fprint',
            '/net/reactivated/Fprint/Manager',
            'net.reactivated.Fprint.Manager GetDevices',
          ),
        )
      ).includes('Device/'),
  },
  printer: { program: 'ipp-usb', works: async (rig) => rig.subject('printer').uses() > 0 },
  smartCardReader: { program: 'pcscd', works: async (rig) => rig.subject('smartCardReader').uses() > 0 },
  mobileModem: { program: 'ModemManager', works: async (rig) => rig.subject('mobileModem').uses() > 0 },
  disk: {
    program: 'udisks2',
    works: async ({ sh }) => (await sh('busctl tree --list org.freedesktop.UDisks2')).includes('drives/A_maker_Stick'),
  },
}
/** Services that must run before a device is attached. */
const SERVICES = ['fwupd', 'fprintd', 'pcscd', 'ModemManager', 'udisks2']
const names = Object.keys(programs) as Name[]
/** The emulated controller has eight ports. */
const groups = [names.slice(0, 5), names.slice(5)]

/** Each device is allowed by its model, except for those whose kind is usually allowed. */
const kinds: Partial<Record<Name, PolicyRule['kinds']>> = {
  disk: ['Mass Storage'],
  smartCardReader: ['Smart Card'],
  printer: ['Printer'],
}

describe('programs use new devices', unless(whyNoPrograms), () => {
  let rig: Rig
  const rules = names.map(
    (name): PolicyRule => ({
      id: name,
      effect: 'allow',
      level: 'global',
      ...(kinds[name] === undefined ? idsOf(name) : { kinds: kinds[name] }),
    }),
  )

  beforeAll(async () => {
    rig = await startRig()
    await rig.sh(`systemctl start ${SERVICES.join(' ')}`, 300_000)
    await rig.install()
  }, 600_000)
  afterAll(() => rig?.stop())

  const modes: Record<string, { begin(): Promise<void>; plug(group: readonly Name[]): Promise<void> }> = {
    'a free host': { begin: async () => {}, plug: (group) => rig.plug(group) },
    'an armed host': {
      begin: async () => {
        await rig.setRules(...rules)
        await rig.setMode('Armed')
      },
      plug: (group) => rig.plug(group),
    },
    'an armed host whose agent is late': {
      begin: async () => {},
      async plug(group) {
        await rig.sh('systemctl kill --kill-whom=main -s STOP portcullis-agent')
        await rig.plug(group)
        await rig.sh('sleep 1; systemctl kill --kill-whom=main -s CONT portcullis-agent')
      },
    },
    'an armed host that allows the device later': {
      begin: async () => {},
      async plug(group) {
        await rig.setRules()
        await rig.plug(group)
        await rig.sh('udevadm settle')
        await rig.setRules(...rules)
      },
    },
  }

  describe.each(Object.keys(modes))('on %s', (mode) => {
    beforeAll(() => modes[mode]?.begin())

    it.each(groups)(
      '%s',
      async (...group) => {
        await modes[mode]?.plug(group)
        const slow: string[] = []
        for (const name of group) {
          const { vid, pid } = idsOf(name)
          const { program, works } = programs[name]
          await eventually(
            `${program} uses the ${name}`,
            () => works(rig, vid.toLowerCase(), pid.toLowerCase()),
            WORKS_MS,
          ).catch((error) => void slow.push(`${program}: ${error}`))
        }
        expect(slow).toEqual([])
        if (group.includes('modem')) expect(rig.subject('modem').uses()).toBe(1)
        await rig.unplug(group)
      },
      300_000,
    )
  })
})
