import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { remove, temporaryDir, until } from '../harness.ts'
import { type Gadget, logSincePlug, makeGadget, plug, unplug } from './gadgets.ts'
import { writeInitramfs } from './initramfs.ts'
import { kernelFiles, whyNoKernel } from './kernel-files.ts'
import { bootVm, type Vm } from './vm.ts'

if (whyNoKernel !== undefined) console.log(`SKIPPED: a real kernel with USB gadgets: ${whyNoKernel}`)

const KEYSTROKES = 1_000

const typist: Gadget = {
  name: 'typist',
  vid: '1b4f',
  pid: '9204',
  bcdDevice: '0100',
  manufacturer: 'Unknown',
  product: 'Keyboard',
  serial: '',
  functions: ['keyboard'],
  controller: 0,
}

describe('a real kernel with USB gadgets', () => {
  let vm: Vm
  let dir = ''

  beforeAll(async () => {
    if (whyNoKernel !== undefined) return
    dir = temporaryDir()
    const initramfs = `${dir}/initramfs`
    writeInitramfs(kernelFiles, initramfs)
    const startedAt = performance.now()
    vm = await bootVm({ ...kernelFiles, initramfs, dir })
    console.log(`booted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${await vm.run('uname -r')}`)
    await makeGadget(vm, typist)
  })
  beforeEach((ctx) => {
    if (whyNoKernel !== undefined) ctx.skip(whyNoKernel)
  })
  afterAll(async () => {
    await vm?.stop()
    if (dir !== '') remove(dir)
  })

  const settled = (g: Gadget, text: string) =>
    until(`the kernel says of ${g.name}: ${text}`, async () =>
      (await logSincePlug(vm, g)).find((line) => line.text.includes(text)),
    )

  it('without the agent: a gadget that nobody approved types, and every keystroke arrives', async () => {
    await vm.run('record')
    await plug(vm, typist)
    await settled(typist, 'hid-generic')
    await until('the recorder listens to it', () => vm.run('ls /tmp/keys').then((names) => names.includes('dummy_hcd')))
    const taken = Number(await vm.run(`type_keys typist ${KEYSTROKES} 30`))
    const arrived = Number(await vm.run('stop_recording; keystrokes'))
    await unplug(vm, typist)
    console.log(`without the agent: ${arrived} of ${KEYSTROKES} keystrokes arrived`)
    expect([taken, arrived]).toEqual([KEYSTROKES, KEYSTROKES])
  })
})
