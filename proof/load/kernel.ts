/** Measures an armed host on a real kernel: how many keystrokes get through, and how long an allowed device waits. */
import { rmSync } from 'node:fs'
import {
  approved,
  desk,
  gadgets,
  makeGadget,
  plug,
  TYPING_MS,
  typeOn,
  typist,
  unplug,
} from '../../e2e/kernel/gadgets.ts'
import { writeInitramfs } from '../../e2e/kernel/initramfs.ts'
import { kernelFiles, whyNoKernel } from '../../e2e/kernel/kernel-files.ts'
import { bindTime, PLUGS, slowness } from '../../e2e/kernel/measure.ts'
import { startPeer } from '../../e2e/kernel/peer.ts'
import { bootVm, eventually } from '../../e2e/kernel/vm.ts'
import { temporaryFolder } from '../kit/database.ts'
import { type BenchResult, round } from './result.ts'

const keystrokes = 1_000

export const benchKernel = async (): Promise<BenchResult> => {
  const name = 'kernel'
  if (whyNoKernel !== undefined) return { name, conditions: 'not run', figures: [], notRun: [whyNoKernel] }
  const dir = temporaryFolder('kernel')
  const peer = await startPeer()
  writeInitramfs(kernelFiles, `${dir}/initramfs`)
  const vm = await bootVm({ ...kernelFiles, initramfs: `${dir}/initramfs`, dir })
  try {
    for (const gadget of gadgets) await makeGadget(vm, gadget)
    await plug(vm, desk)
    await vm.run('record')
    await plug(vm, typist)
    const unarmed = await typeOn(vm, typist, keystrokes)
    await unplug(vm, typist)
    const without = await bindTime(vm, approved)
    peer.setRules({ id: 'r1', effect: 'allow', level: 'global', vid: approved.vid, pid: approved.pid })
    await vm.run(`start_agent --server ${peer.url} --token ${peer.token} --insecure-http`)
    await eventually('the first inventory is here', () => peer.seen.facts !== undefined)
    await peer.command('configure', { mode: 'Armed', applyToPresent: false })
    await eventually('the agent says that it is armed', () => peer.seen.enforcement?.mode === 'Armed')
    await vm.run('record')
    await plug(vm, typist)
    await vm.run(`type_keys typist ${keystrokes}`, TYPING_MS)
    const armed = Number(await vm.run('stop_recording; keystrokes'))
    await unplug(vm, typist)
    const bind = await bindTime(vm, approved)
    const slower = await slowness(vm)
    return {
      name,
      conditions: `Linux ${await vm.run('uname -r')} with one emulated keyboard each in an emulated machine, ${round(slower, 0)} times slower than this one; the agent talks to a stand-in for the server; times are medians of ${PLUGS} plugs by the kernel's clock`,
      figures: [
        {
          what: `keystrokes of an unapproved keyboard, of ${keystrokes}, without the agent`,
          value: unarmed,
          unit: '',
          better: 'less',
        },
        {
          what: `keystrokes of an unapproved keyboard, of ${keystrokes}, armed`,
          value: armed,
          unit: '',
          limit: 0,
          better: 'less',
        },
        {
          what: 'allowed keyboard, from the plug to its driver, without the agent',
          value: round(without, 0),
          unit: 'ms',
          better: 'less',
        },
        { what: 'the same, armed', value: round(bind, 0), unit: 'ms', better: 'less' },
        {
          what: 'delay that enforcement adds, in the emulated machine',
          value: round(Math.max(0, bind - without), 1),
          unit: 'ms',
          limit: 50,
          better: 'less',
        },
      ],
    }
  } finally {
    await vm.stop()
    await peer.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
