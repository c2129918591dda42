import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { fingerprints, parseReport } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { kernelFiles, whyNoKernel } from '../../proof/kit/kernel/kernel-files.ts'
import { bootVm, eventually, type Vm } from '../../proof/kit/kernel/vm.ts'
import {
  approved,
  desk,
  type Gadget,
  gadgets,
  impostor,
  isAuthorized,
  kernelSays,
  makeGadget,
  plug,
  stick,
  TYPING_MS,
  twofold,
  typeOn,
  typist,
  unplug,
} from './gadgets.ts'
import { writeInitramfs } from './initramfs.ts'
import { bindTime, PLUGS, slowness } from './measure.ts'
import { type Peer, startPeer } from './peer.ts'

const KEYSTROKES = 1_000
/** Old values of the defaults. One differs from the kernel's default, to prove that the old value is restored. */
const OLD_DEFAULTS = '1 1 1 2'
const ARMED_DEFAULTS = '0 0 0 0'

const allowApproved: PolicyRule = { id: 'r1', effect: 'allow', level: 'global', vid: approved.vid, pid: approved.pid }
const allowTwofold: PolicyRule = { ...allowApproved, id: 'r5', pid: twofold.pid }
const allowStick: PolicyRule = { id: 'r2', effect: 'allow', level: 'host', vid: stick.vid, serial: stick.serial }

/** All tests share one virtual machine, and each continues from the previous one. */
describe('a real kernel with USB gadgets', unless(whyNoKernel), () => {
  let vm: Vm
  let peer: Peer
  let dir = ''
  let bindWithoutAgent = 0

  beforeAll(async () => {
    dir = temporaryDir()
    peer = await startPeer()
    const initramfs = `${dir}/initramfs`
    writeInitramfs(kernelFiles, initramfs)
    const startedAt = performance.now()
    vm = await bootVm({ ...kernelFiles, initramfs, dir })
    console.log(`booted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${await vm.run('uname -r')}`)
    for (const gadget of gadgets) await makeGadget(vm, gadget)
    await vm.run('set_default 3 2')
    await plug(vm, desk)
    await vm.run('echo 1 >/sys/bus/usb/devices/$(port 3)/authorized')
  })
  afterEach(() => peer?.setAway(false))
  afterAll(async () => {
    await vm?.stop()
    await peer?.stop()
    if (dir !== '') remove(dir)
  })

  const reported = (g: Gadget) =>
    [...peer.devices.values()].find(({ portPath }) => portPath === `${g.controller + 1}-1`)
  const defaults = () => vm.run('authorized_defaults')
  const startAgent = () => vm.run(`start_agent --server ${peer.url} --token ${peer.token} --insecure-http`)
  const stopAgent = async (signal: 'TERM' | 'KILL'): Promise<void> => {
    await vm.run(`signal_agent ${signal}`)
    await eventually('the agent has ended', async () => (await vm.attempt('agent_runs')).code !== 0)
  }

  it(`without the agent, all ${KEYSTROKES} keystrokes of an unapproved keyboard arrive`, async () => {
    await vm.run('record')
    await plug(vm, typist)
    expect(await typeOn(vm, typist, KEYSTROKES)).toBe(KEYSTROKES)
    await unplug(vm, typist)
    bindWithoutAgent = await bindTime(vm, approved)
  })

  it('the agent reports the devices of the kernel and the grade before-driver', async () => {
    await startAgent()
    await eventually('the first inventory is here', () => peer.seen.facts !== undefined && reported(desk))
    expect(peer.seen.facts).toMatchObject({ hostname: 'gadgets', enforcement: 'before-driver' })
    expect(reported(desk)).toMatchObject({ product: 'Office Keyboard', serial: 'D-1', authorized: true })
    expect(await defaults()).toBe(OLD_DEFAULTS)
  })

  it('arming is confirmed after the kernel applied it, and attached devices keep working', async () => {
    peer.setRules(allowApproved)
    const ack = await peer.command('configure', { mode: 'Armed', applyToPresent: false })
    expect(ack).toMatchObject({ outcome: 'confirmed' })
    expect(await defaults()).toBe(ARMED_DEFAULTS)
    expect(await isAuthorized(vm, desk)).toBe(true)
    await eventually('the agent says that it is armed', () => peer.seen.enforcement?.mode === 'Armed')
    await vm.run('record')
    expect(await typeOn(vm, desk, 10)).toBe(10)
  })

  it(`an armed host blocks all ${KEYSTROKES} keystrokes of an unapproved keyboard, which gets no input device`, async () => {
    const before = await vm.run('input_devices')
    await vm.run('record')
    await plug(vm, typist)
    const typed = await vm.run(`type_keys typist ${KEYSTROKES}`, TYPING_MS)
    await eventually('it is reported as blocked', () => reported(typist)?.enforced?.effect === 'block')
    const arrived = Number(await vm.run('stop_recording; keystrokes'))
    expect([typed, arrived]).toEqual([`${KEYSTROKES} 0`, 0])
    expect(await vm.run('input_devices')).toBe(before)
    expect(reported(typist)).toMatchObject({ authorized: false, enforced: { source: 'default', ruleId: null } })
    const told = await eventually('the user is told', async () => (await vm.attempt('cat /tmp/told')).output)
    const [number = 'no case number'] = /PC-[0-9A-Z]{6}/.exec(told.value) ?? []
    expect(told.value).toContain('the help desk')
    expect(await vm.run('portcullis-agent status --state-dir /root/agent')).toContain(number)
  })

  it('on an armed host, an approved keyboard works as soon as without the agent', async () => {
    const bind = await bindTime(vm, approved)
    const slower = await slowness(vm)
    const more = (bind - bindWithoutAgent) / slower
    console.log(
      `plug to bound driver, median of ${PLUGS}: ${bindWithoutAgent.toFixed(0)} ms without the agent, ` +
        `${bind.toFixed(0)} ms armed (x${(bind / bindWithoutAgent).toFixed(2)}), emulated ${slower.toFixed(0)} times slower: ` +
        `${more.toFixed(1)} ms more on this machine`,
    )
    expect(more).toBeLessThan(50)
    await vm.run('record')
    await plug(vm, approved)
    expect(await typeOn(vm, approved, KEYSTROKES)).toBe(KEYSTROKES)
    await eventually('it is reported as allowed', () => reported(approved)?.enforced?.effect === 'allow')
    expect(reported(approved)).toMatchObject({ authorized: true, enforced: { source: 'global', ruleId: 'r1' } })
    await unplug(vm, approved)
  })

  it('on an armed host, an unapproved stick has no disk until a rule allows it', async () => {
    await plug(vm, stick)
    await eventually('it is reported as blocked', () => reported(stick)?.enforced?.effect === 'block')
    expect(await vm.run('disks')).toBe('0')
    peer.setRules(allowApproved, allowStick)
    const ack = await peer.command('policy', { version: peer.policyVersion() })
    expect(ack).toMatchObject({ outcome: 'confirmed' })
    await eventually('it has a disk', async () => (await vm.run('disks')) === '1')
    await unplug(vm, stick)
  })

  it('an armed host keeps the configuration of a device that it authorises again', async () => {
    peer.setRules(allowApproved, allowStick, allowTwofold)
    await peer.command('policy', { version: peer.policyVersion() })
    await makeGadget(vm, twofold)
    await vm.run('second_configuration twofold')
    await plug(vm, twofold)
    const device = `/sys/bus/usb/devices/$(port ${twofold.controller})`
    await eventually('it has the first configuration', () => reported(twofold)?.configurationValue === 1)
    await vm.run(`echo 2 >${device}/bConfigurationValue`)
    await eventually('it has the second configuration', () => reported(twofold)?.configurationValue === 2)
    await vm.run(`echo 0 >${device}/authorized`)
    await eventually('it is back with the second configuration', async () => {
      const state = await vm.run(`cat ${device}/authorized ${device}/bConfigurationValue | tr '\n' ' '`)
      return state === '1 2'
    })
    await unplug(vm, twofold)
    peer.setRules(allowApproved, allowStick)
    await peer.command('policy', { version: peer.policyVersion() })
  })

  it('an armed host blocks a keyboard with a disk despite the IDs of the approved keyboard', async () => {
    const before = await vm.run('input_devices; disks')
    await plug(vm, impostor)
    await eventually('it is reported as blocked', () => reported(impostor)?.enforced?.effect === 'block')
    expect(reported(impostor)).toMatchObject({ authorized: false, enforced: { source: 'attack-tool' } })
    expect(await vm.run('input_devices; disks')).toBe(before)
    await unplug(vm, impostor)
  })

  it('on an armed host, a device that worked recently works again at its port, even with new firmware', async () => {
    await unplug(vm, desk)
    await plug(vm, desk)
    await kernelSays(vm, desk, 'hid-generic')
    await eventually('it is reported with its guard', () => reported(desk)?.enforced?.guard === 'present')
    expect(reported(desk)).toMatchObject({ authorized: true, enforced: { effect: 'block', source: 'default' } })

    await plug(vm, approved)
    await eventually('it is reported', () => reported(approved)?.authorized)
    const report = reported(approved)
    if (report === undefined) throw new Error('just reported')
    const { exact } = fingerprints(parseReport(report), report)
    peer.setRules({ id: 'r3', effect: 'allow', level: 'global', fingerprint: exact })
    await peer.command('policy', { version: peer.policyVersion() })
    await unplug(vm, approved)
    await vm.run(`echo 0x0200 >$gadgets/${approved.name}/bcdDevice`)
    await plug(vm, approved)
    await kernelSays(vm, approved, 'hid-generic')
    await eventually('it is reported with its guard', () => reported(approved)?.enforced?.guard === 'recent')
    await unplug(vm, approved)
    peer.setRules(allowApproved)
    await peer.command('policy', { version: peer.policyVersion() })
  })

  it('without the server, the last policy stays in force, even after a restart of the agent', async () => {
    peer.setAway(true)
    await plug(vm, approved)
    await kernelSays(vm, approved, 'hid-generic')
    await unplug(vm, approved)
    await stopAgent('TERM')
    await startAgent()
    await eventually('it is armed again', async () => (await defaults()) === ARMED_DEFAULTS)
    await plug(vm, approved)
    await kernelSays(vm, approved, 'hid-generic')
    await unplug(vm, approved)
    expect([await isAuthorized(vm, typist), await isAuthorized(vm, desk)]).toEqual([false, true])
  })

  it('the old defaults are restored when the agent stops, and within 2 s when it is killed', async () => {
    await stopAgent('TERM')
    expect([await defaults(), await isAuthorized(vm, typist)]).toEqual([OLD_DEFAULTS, false])
    await startAgent()
    await eventually('it is armed again', async () => (await defaults()) === ARMED_DEFAULTS)
    const killed = await vm.run('uptime_ms; signal_agent KILL')
    const { value: back } = await eventually('the old defaults are back', async () => {
      const [at = '', ...values] = (await vm.run('uptime_ms; authorized_defaults')).split('\n')
      return values.join('') === OLD_DEFAULTS && at
    })
    const ms = Number(back) - Number(killed)
    const slower = await slowness(vm)
    console.log(
      `agent killed to old defaults back: ${ms} ms, emulated ${slower.toFixed(0)} times slower: ` +
        `${(ms / slower).toFixed(0)} ms on this machine`,
    )
    expect(ms / slower).toBeLessThan(2_000)
    expect(await isAuthorized(vm, typist)).toBe(false)
    await startAgent()
    await eventually('it is armed again', async () => (await defaults()) === ARMED_DEFAULTS)
  })

  it('when the host is freed, blocked devices work at once', async () => {
    const ack = await peer.command('configure', { mode: 'Free', applyToPresent: false })
    expect(ack).toMatchObject({ outcome: 'confirmed' })
    expect([await defaults(), await isAuthorized(vm, typist)]).toEqual([OLD_DEFAULTS, true])
    await vm.run('record')
    expect(await typeOn(vm, typist, 10)).toBe(10)
  })

  it('with applyToPresent, the last keyboard keeps working while it is the last, and so does the disk of /boot', async () => {
    await unplug(vm, typist)
    await plug(vm, stick)
    await eventually('it has a disk', async () => (await vm.run('disks')) === '1')
    await vm.run('mkdir -p /boot; disk=/dev/$(usb_disk); mke2fs $disk >/dev/null; mount -t ext4 $disk /boot')
    const ack = await peer.command('configure', { mode: 'Armed', applyToPresent: true })
    expect(ack).toMatchObject({ outcome: 'confirmed' })
    await eventually('both are reported', () => reported(desk)?.enforced?.guard && reported(stick)?.enforced?.guard)
    expect([reported(desk), reported(stick)]).toMatchObject([
      { authorized: true, enforced: { effect: 'block', guard: 'last-keyboard' } },
      { authorized: true, enforced: { effect: 'block', guard: 'boot-disk' } },
    ])
    await plug(vm, approved)
    await kernelSays(vm, approved, 'hid-generic')
    await eventually('the other keyboard is taken away', async () => !(await isAuthorized(vm, desk)))
    expect(await vm.run('echo kept >/boot/file; sync; cat /boot/file; umount /boot')).toBe('kept')
  })

  it('when root releases the host, with or without a running agent, blocked devices work at once', async () => {
    for (const isRunning of [true, false]) {
      const ack = await peer.command('configure', { mode: 'Armed', applyToPresent: true })
      expect(ack).toMatchObject({ outcome: 'confirmed' })
      await eventually('the keyboard is taken away', async () => !(await isAuthorized(vm, desk)))
      if (!isRunning) await stopAgent('KILL')
      await vm.run('portcullis-agent release --state-dir /root/agent')
      expect([await defaults(), await isAuthorized(vm, desk)]).toEqual([OLD_DEFAULTS, true])
      if (!isRunning) await startAgent()
      await eventually('the server is told', () => peer.seen.enforcement?.mode === 'Free')
      expect(peer.seen.enforcement?.reason).not.toBe('')
    }
  })
})
