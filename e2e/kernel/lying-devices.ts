import type { HeldPort, PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { type KernelFiles, kernelFiles } from '../../proof/kit/kernel/kernel-files.ts'
import { bootVm, eventually } from '../../proof/kit/kernel/vm.ts'
import type { DeviceCommand, DeviceCounts } from './device-commands.ts'
import { genuineHardware } from './genuine.ts'
import { writeInitramfs } from './initramfs.ts'
import { type Lie, lies } from './lies.ts'
import { startPeer } from './peer.ts'
import { connectQmp } from './qmp.ts'

/** Effects of a device on the host while it was attached. */
export interface ObservedEffects {
  /** Ethernet frames that the host received from it and sent to it. */
  frames: number
  sectors: number
  keystrokes: number
  networks: number
  disks: number
  sounds: number
  /** Drivers that do not match its claim, and the time in ms for which each was bound. */
  foreign: { driver: string; ms: number }[]
  /** Number of such drivers that are still bound. */
  stillBound: number
}

/** Time for an unblocked device to cause harm. */
const STOPPED_MS = 5_000

const portOf = ({ device }: Lie): { controller: number; path: string } =>
  'plug' in device ? { controller: 0, path: '1-1' } : { controller: 1, path: '2-1' }

/** Returns the foreign drivers by device, from the output of `bindings` (guest.sh). Devices themselves have the driver `usb`. */
const foreignOf = (lines: string, now: number, honest: readonly string[]) => {
  const open = new Map<string, { driver: string; at: number }>()
  const foreign: { driver: string; ms: number }[] = []
  for (const line of lines.split('\n')) {
    const [at = '', action, path = '', driver = ''] = line.split(' ')
    if (!path.includes('/dummy_hcd.')) continue
    const bound = open.get(path)
    if (action === 'bind' && driver !== 'usb' && !honest.includes(driver)) open.set(path, { driver, at: Number(at) })
    else if (action !== 'bind' && bound !== undefined) {
      foreign.push({ driver: bound.driver, ms: (Number(at) - bound.at) * 1000 })
      open.delete(path)
    }
  }
  for (const { driver, at } of open.values()) foreign.push({ driver, ms: (now - at) * 1000 })
  return { foreign, stillBound: open.size }
}

/** Returns the product ID in the device descriptor; empty without a report. */
const productIdOf = (report: { descriptors: string } | undefined): string =>
  report === undefined ? '' : Buffer.from(report.descriptors, 'base64').readUInt16LE(10).toString(16).padStart(4, '0')

export type LyingDevices = Awaited<ReturnType<typeof startLyingDevices>>

/** Starts a virtual machine for devices with false claims, with an agent and its server. */
export const startLyingDevices = async (files: KernelFiles = kernelFiles) => {
  const dir = temporaryDir()
  const peer = await startPeer()
  const initramfs = `${dir}/initramfs`
  writeInitramfs(files, initramfs)
  const hardware = genuineHardware(dir)
  const vm = await bootVm({ ...files, initramfs, dir, options: hardware.options })
  const qmp = await connectQmp(hardware.control)
  const obey = async (channel: string, command: DeviceCommand): Promise<unknown> => {
    const answer: unknown = JSON.parse(await vm.run(`device ${channel} '${JSON.stringify(command)}'`))
    if (typeof answer === 'string' && answer !== 'done') throw new Error(answer)
    return answer
  }
  const countsOf = async ({ name, device }: Lie): Promise<DeviceCounts> =>
    (await obey('plug' in device ? 'gadgetfs' : 'functions', { do: 'counts', name })) as DeviceCounts

  await vm.run('mount_gadgetfs; start_device functions; start_device gadgetfs; use_everything')
  for (const { name, device } of lies) {
    if ('plug' in device) continue
    await vm.run([`gadget ${name} 1d6b 0104 0110 '' '' ''`, `g=$gadgets/${name}`, ...device.functions].join('\n'))
    for (const command of device.offers) await obey('functions', command)
    if (device.types === true) await obey('functions', { do: 'type', name, node: await vm.run(`hidg ${name}`) })
  }

  let before: DeviceCounts | undefined
  /** Device of a test that ended before it removed its device. */
  let plugged: Lie | undefined
  const lying = {
    vm,
    peer,
    hardware,
    qmp,
    startAgent: async (): Promise<void> => {
      await vm.run(`start_agent --server ${peer.url} --token ${peer.token} --insecure-http`)
      await eventually('the first inventory is here', () => peer.seen.facts !== undefined)
    },
    arm: async (): Promise<void> => {
      await peer.command('configure', { mode: 'Armed', applyToPresent: false })
      await eventually('the agent says that it is armed', () => peer.seen.enforcement?.mode === 'Armed')
    },
    /** Sets the rules that a device tries to bypass. */
    setRules: async (...rules: PolicyRule[]): Promise<void> => {
      peer.setRules(...rules)
      await peer.command('policy', { version: peer.policyVersion() })
    },
    /** Attaches a device to the armed host, waits until it is evaluated, removes it and releases its port. */
    tryArmed: async (
      lie: Lie,
      onceDecided?: () => Promise<void>,
    ): Promise<{ effects: ObservedEffects; held: HeldPort[] }> => {
      await lying.plug(lie)
      if (lie.changesTo !== undefined)
        await eventually(`${lie.name} has changed`, async () => (await lying.productId(lie)) === lie.changesTo)
      await eventually(`${lie.name} is evaluated`, () => {
        const report = lying.reported(lie)
        const isThis = lie.changesTo === undefined || productIdOf(report) === lie.changesTo
        return isThis && report?.enforced !== undefined
      })
      await onceDecided?.()
      // An authorised device may cause harm from here on, so the test waits.
      await eventually(`${lie.name} is stopped`, () => lying.isStopped(lie), STOPPED_MS).catch(() => {})
      const all = await lying.effects(lie)
      // Before the change, it was a disk that a rule allows.
      const effects = lie.changesTo === undefined ? all : { ...all, sectors: 0, disks: 0 }
      await lying.unplug(lie)
      await eventually(`${lie.name} is reported as gone`, () => lying.reported(lie) === undefined)
      return { effects, held: await lying.releasePorts() }
    },
    /** Releases all held ports as an operator does, and returns them. */
    releasePorts: async (): Promise<HeldPort[]> => {
      const held = peer.seen.enforcement?.held ?? []
      if (held.length === 0) return held
      await peer.command('release-ports', { releases: held.map(({ id }) => ({ id, accept: false })) })
      await eventually('no port is held', () => (peer.seen.enforcement?.held ?? []).length === 0)
      return held
    },
    /** Attaches a device and waits until the kernel has read it. */
    plug: async (lie: Lie): Promise<void> => {
      const { device, name } = lie
      if (plugged !== undefined) await lying.unplug(plugged)
      plugged = lie
      await vm.run('forget_use')
      before = await countsOf(lie)
      if ('plug' in device) {
        await vm.run(`mark 'plug ${name}'`)
        await obey('gadgetfs', device.plug)
      } else {
        const set = Object.entries(device.attributes).map(([file, value]) => `echo ${value} >$gadgets/${name}/${file}`)
        await vm.run([...set, `plug ${name} ${portOf(lie).controller}`].join('\n'))
      }
      await eventually(`${name} is known to the kernel`, async () =>
        (await vm.run(`log_since_plug ${name}`)).includes('New USB device found'),
      )
    },
    unplug: async (lie: Lie): Promise<void> => {
      plugged = undefined
      if ('plug' in lie.device) await vm.run('unplug_gadgetfs')
      else await vm.run(`unplug ${lie.name}`)
      const { path } = portOf(lie)
      await eventually(
        `${lie.name} is gone`,
        async () => (await vm.attempt(`test -e /sys/bus/usb/devices/${path}`)).code === 1,
      )
    },
    /** Returns the counters of all USB devices since the last attachment, by name. */
    used: async (): Promise<ReadonlyMap<string, number>> =>
      new Map(
        (await vm.run('used')).split('\n').map((line) => {
          const [what = '', count = ''] = line.split(' ')
          return [what, Number(count)]
        }),
      ),
    /** Returns the effects so far. */
    effects: async (lie: Lie): Promise<ObservedEffects> => {
      const [uptime = '', ...rest] = (await vm.run('uptime_ms; used; echo; bindings')).split('\n')
      const split = rest.indexOf('')
      const end = split < 0 ? rest.length : split
      const used = new Map(rest.slice(0, end).map((line) => line.split(' ') as [string, string]))
      const get = (what: string): number => Number(used.get(what) ?? 0)
      const counts = await countsOf(lie)
      const since = (what: keyof DeviceCounts): number => counts[what] - (before?.[what] ?? 0)
      return {
        frames: Math.max(get('frames'), since('framesIn')) + since('framesOut'),
        sectors: Math.max(get('sectors'), since('sectors')),
        keystrokes: get('keystrokes'),
        networks: get('networks'),
        disks: get('disks'),
        sounds: get('sounds'),
        ...foreignOf(rest.slice(end + 1).join('\n'), Number(uptime) / 1000, lie.honest),
      }
    },
    /** Returns whether no part of a device is usable. */
    isStopped: async (lie: Lie): Promise<boolean> => (await vm.attempt(`stopped ${portOf(lie).controller}`)).code === 0,
    isAuthorized: async (lie: Lie): Promise<boolean> => (await vm.run(`authorized ${portOf(lie).controller}`)) === '1',
    productId: async (lie: Lie): Promise<string> =>
      (await vm.attempt(`cat /sys/bus/usb/devices/${portOf(lie).path}/idProduct`)).output.trim(),
    reported: (lie: Lie) => peer.devices.get(portOf(lie).path),
    stop: async (): Promise<void> => {
      qmp.close()
      await vm.stop()
      await peer.stop()
      remove(dir)
    },
  }
  return lying
}
