/** Runs under Wine as a service whose argument chooses how it ends. Appends what happens to a file. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { runService } from '../../../agent/src/platform/windows/service.ts'
import { createServiceApi } from '../../../agent/src/platform/windows/service-api.ts'

const [name = '', behaviour = ''] = process.argv.slice(2)
const note = (line: string): void => appendFileSync(`Z:\\agent\\${name}.txt`, `${line}\n`)

const main = async (signal: AbortSignal): Promise<number> => {
  note('running')
  if (behaviour === 'fails') return 7
  if (behaviour === 'revoked') return 3
  if (behaviour === 'throws') throw new Error('no disk')
  if (behaviour === 'crashes')
    setImmediate(() => {
      throw new Error('unexpected')
    })
  if (behaviour === 'rejects') void Promise.reject(new Error('unhandled'))
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  note('stopping')
  if (behaviour === 'hangs') await sleep(60_000)
  await sleep(behaviour === 'slow' ? 1500 : 50)
  note('stopped')
  return 0
}

const control = createServiceApi(loadKoffi(), name)
void runService({
  control: {
    ...control,
    report(status) {
      note(`${status.state} ${status.checkpoint}`)
      control.report(status)
    },
  },
  main,
  finalCodes: [3],
  onFailure: (message) => note(`failed: ${message.split('\n')[0]}`),
  timing: { checkpointMs: 400, stopLimitMs: 3000, shortestMs: 0 },
}).then((isService) => {
  note(`isService ${isService}`)
  if (!isService) process.exit(9)
})
