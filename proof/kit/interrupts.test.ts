// Invariant: Interrupted drills and benchmarks leave no folder, database or process.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'

const kit = new URL('.', import.meta.url).href

/** Runs `code`, which creates something and waits. Returns its output and how it ends. */
const run = async (code: string) => {
  const text = `
    const { onInterrupt, unlessInterrupted } = await import('${kit}interrupts.ts')
    const { temporaryFolder } = await import('${kit}database.ts')
    const say = (line) => console.log(line)
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    ${code}
    say('made')
    setInterval(() => {}, 1_000)`
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const output: string[] = []
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => {
      if (line === 'made') resolve()
      else output.push(line)
    })
    void ended.then(() => reject(new Error('the process exited early')))
  })
  return {
    output,
    interrupt: async (...signals: NodeJS.Signals[]) => {
      for (const signal of signals) child.kill(signal)
      return (await ended)[0] as number
    },
  }
}

it('undoes the newest first, waits for each, and exits with the code of the signal', async () => {
  const { output, interrupt } = await run(`
    say(temporaryFolder('leftovers'))
    onInterrupt(() => say('first'))
    onInterrupt(() => { throw new Error('cannot be undone') })
    onInterrupt(async () => { await rest(100); say('second') })
    onInterrupt(() => say('never'))()`)
  const [folder = ''] = output
  expect(existsSync(folder)).toBe(true)
  expect(await interrupt('SIGTERM')).toBe(143)
  expect(output.slice(1)).toEqual(['second', 'first'])
  expect(existsSync(folder)).toBe(false)
})

it('handles one signal, undoes what is created meanwhile, and reports no more results', async () => {
  const { output, interrupt } = await run(`
    onInterrupt(async () => {
      onInterrupt(() => say('made meanwhile'))
      void rest(10).then(unlessInterrupted).then(() => say('reported'))
      await rest(200)
      say('made before')
    })`)
  // The kernel decides which of two simultaneous signals arrives first.
  expect([130, 143]).toContain(await interrupt('SIGINT', 'SIGTERM', 'SIGINT'))
  expect(output).toEqual(['made before', 'made meanwhile'])
})
