import { styleText } from 'node:util'
import { run } from './bootstrap/run.mjs'
import { STEPS } from './steps.mjs'

/** Runs the static checks two at a time, says each one's result aloud, and answers how many passed and which failed. */
export async function runSteps() {
  const waiting = [...STEPS]
  const failed = []
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const began = performance.now()
      const { ok, output } = await run(process.execPath, step.args)
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      console.log(`${ok ? styleText('green', '✓') : styleText('red', '✗')} ${step.name} (${seconds} s)`)
      if (ok) continue
      failed.push(step.name)
      console.log(output.trimEnd())
    }
  }
  await Promise.all([worker(), worker()])
  return { passed: STEPS.length - failed.length, failed }
}
