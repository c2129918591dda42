import { hidFunctions } from '@portcullis/domain'
import { randomReportDescriptors, reportDescriptors, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { kernelFiles, whyNoKernel } from '../../proof/kit/kernel/kernel-files.ts'
import { bootVm, eventually, type Vm } from '../../proof/kit/kernel/vm.ts'
import { seededRandom } from '../../proof/kit/seeded-random.ts'
import { writeInitramfs } from './initramfs.ts'

const RANDOM = 200
/** Key codes of the letters (include/uapi/linux/input-event-codes.h). */
const letters = [...[16, 25], ...[30, 38], ...[44, 50]]
const letterMask = [0, 2, 4].reduce((mask, at) => {
  for (let code = letters[at] ?? 0; code <= (letters[at + 1] ?? 0); code++) mask |= 1n << BigInt(code)
  return mask
}, 0n)

/** Returns the phys of all input devices with a letter, from /proc/bus/input/devices. */
const typingIn = (text: string): Set<string> => {
  const found = new Set<string>()
  for (const device of text.split('\n\n')) {
    const words = /^B: KEY=(.+)$/m.exec(device)?.[1]?.trim().split(' ') ?? []
    const keys = words.reduce((all, word) => (all << 64n) | BigInt(`0x${word}`), 0n)
    const phys = /^P: Phys=(\S+)$/m.exec(device)?.[1]
    if ((keys & letterMask) !== 0n && phys !== undefined) found.add(phys.split('/')[0] ?? '')
  }
  return found
}

/** Creates a HID device from each line of hex by /dev/uhid, and keeps them until the machine ends. */
const maker = `
const { openSync, readFileSync, writeSync, writeFileSync } = require('node:fs')
const UHID_CREATE2 = 11, BUS_USB = 3
readFileSync('/tmp/descriptors', 'utf8').trim().split('\\n').forEach((hex, index) => {
  const event = Buffer.alloc(4380), bytes = Buffer.from(hex, 'hex')
  event.writeUInt32LE(UHID_CREATE2, 0)
  event.write('made ' + index, 4)
  event.write('made-' + index, 132)
  event.writeUInt16LE(bytes.length, 260)
  event.writeUInt16LE(BUS_USB, 262)
  event.writeUInt32LE(0x4321, 264)
  event.writeUInt32LE(index, 268)
  bytes.copy(event, 280)
  writeSync(openSync('/dev/uhid', 'r+'), event)
})
writeFileSync('/tmp/made', '')
setInterval(() => {}, 1e6)`

describe('HID report descriptors on a real kernel', unless(whyNoKernel), () => {
  const all = [...reportDescriptors, ...randomReportDescriptors(RANDOM, () => seededRandom('report descriptors'))]
  let vm: Vm
  let dir = ''
  let typing = new Set<string>()

  beforeAll(async () => {
    dir = temporaryDir()
    const initramfs = `${dir}/initramfs`
    writeInitramfs(kernelFiles, initramfs)
    vm = await bootVm({ ...kernelFiles, initramfs, dir, bootMs: 600_000 })
    const lines = all.map(({ bytes }) => Buffer.from(bytes).toString('hex'))
    await vm.run('rm -f /tmp/descriptors')
    for (let at = 0; at < lines.length; at += 50)
      await vm.run(`cat >>/tmp/descriptors <<END\n${lines.slice(at, at + 50).join('\n')}\nEND`)
    await vm.run(
      `cat >/tmp/make.cjs <<'END'\n${maker}\nEND\nsetsid node /tmp/make.cjs </dev/null >/tmp/make.log 2>&1 &`,
    )
    await eventually('all are made', async () => (await vm.attempt('[ -e /tmp/made ]')).code === 0, 300_000)
    // A driver is bound, or the log says why none is: a device without input devices has no listeners.
    const pending = [
      'dmesg >/tmp/kernel-log',
      'for d in /sys/bus/hid/devices/0003:4321:*; do',
      '  [ -e $d/driver ] || grep -q "$(basename $d): " /tmp/kernel-log || echo $d',
      'done',
    ].join('\n')
    const devices = 'ls /sys/bus/hid/devices | grep -c 0003:4321'
    await eventually('each has a device', async () => Number(await vm.run(devices)) === all.length, 300_000)
    await eventually('the kernel has examined each', async () => (await vm.run(pending)) === '', 300_000)
    typing = typingIn(await vm.run('cat /proc/bus/input/devices'))
  }, 1_200_000)
  afterAll(async () => {
    await vm?.stop()
    if (dir !== '') remove(dir)
  })

  it('are of many kinds, and about half of them type', () => {
    expect(reportDescriptors.length).toBeGreaterThanOrEqual(54)
    expect(typing.size).toBeGreaterThan(all.length / 4)
    expect(typing.size).toBeLessThan((all.length * 3) / 4)
  })

  it('type on the kernel if and only if the product says so', () => {
    const wrong = all.flatMap(({ what, bytes }, index) => {
      const says = hidFunctions(Uint8Array.from(bytes)).keyboard
      const is = typing.has(`made-${index}`)
      return says === is ? [] : [`${what}: the kernel ${is ? 'makes' : 'makes no'} keyboard, the product says ${says}`]
    })
    expect(wrong).toEqual([])
  })
})
