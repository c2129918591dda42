import { styleText } from 'node:util'
import { run } from './bootstrap/run.mjs'
import { STEPS } from './steps.mjs'

/**
 * Runs the static checks, `atOnce` at a time. Prints each result with `say`, and returns how many passed and which
 * failed. If something else prints at the same time, pass a `say` that collects the lines.
 */
export async function runSteps({ atOnce = 2, say = console.log } = {}) {
  const waiting = [...STEPS]
  const failed = []
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const began = performance.now()
      const { ok, output } = await run(process.execPath, step.args)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      say(`${ok ? styleText('green', '✓') : styleText('red', '✗')} ${step.name} (${seconds} s)`)
      if (ok) continue
      failed.push(step.name)
      say(output.trimEnd())
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { passed: STEPS.length - failed.length, failed }
}
