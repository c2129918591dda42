import { styleText } from 'node:util'
import { run } from './bootstrap/run.mjs'
import { STEPS } from './steps.mjs'

/**
 * Runs the static checks, so many at a time, says each one's result aloud, and answers how many passed and which failed.
 * Beside something else that speaks, `say` gathers what is said.
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
