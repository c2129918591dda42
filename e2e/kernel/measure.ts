import { execFileSync } from 'node:child_process'
import { kernelFiles } from '../../proof/kit/kernel/kernel-files.ts'
import type { Vm } from '../../proof/kit/kernel/vm.ts'
import { type Gadget, kernelSays, plug, unplug } from './gadgets.ts'

/** Number of attachments for the median of a time. */
export const PLUGS = 5

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Returns the median time from attachment to bound driver, in ms of the kernel's clock. */
export const bindTime = async (vm: Vm, gadget: Gadget): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < PLUGS; i++) {
    await plug(vm, gadget)
    times.push(await kernelSays(vm, gadget, 'hid-generic'))
    await unplug(vm, gadget)
  }
  return median(times)
}

/** Returns how much longer the agent takes to start in the virtual machine than outside, with the best of three runs each. */
export const slowness = async (vm: Vm): Promise<number> => {
  const inside: number[] = []
  const outside: number[] = []
  for (let i = 0; i < 3; i++) {
    const times = await vm.run('uptime_ms; portcullis-agent --version >/dev/null; uptime_ms')
    const [from = 0, to = 0] = times.split('\n').map(Number)
    inside.push(to - from)
    const startedAt = performance.now()
    execFileSync(kernelFiles.agent, ['--version'])
    outside.push(performance.now() - startedAt)
  }
  return Math.min(...inside) / Math.min(...outside)
}
