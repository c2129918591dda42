/** Runs under Wine: measures the time from an announcement of Wine's Plug and Play service to the agent's event. */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createArrivals, listenToWindow } from '../../../agent/src/platform/windows/arrivals.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createSetupApi } from '../../../agent/src/platform/windows/setup-api.ts'
import { ARRIVAL, announce, REMOVAL } from './announce.ts'

const koffi = loadKoffi()
const api = createSetupApi(koffi)
let events = 0
let seen = 0
let isListening = false
const arrivals = createArrivals({
  stamp: api.stamp,
  onEvent: () => {
    events++
    seen = performance.now()
  },
  listen: (onEvent) => {
    const listener = listenToWindow(koffi, onEvent)
    isListening = listener !== undefined
    return listener
  },
})
const measure = async (): Promise<void> => {
  await sleep(500)
  const before = events
  const delays: number[] = []
  for (const code of [ARRIVAL, REMOVAL, ARRIVAL]) {
    const [began, count] = [performance.now(), events]
    await announce(code)
    while (events === count && performance.now() - began < 5000) await sleep(5)
    delays.push(events === count ? -1 : seen - began)
    await sleep(200)
  }
  writeFileSync('Z:\\agent\\arrivals.json', JSON.stringify({ isListening, before, delays }))
  arrivals.stop()
  writeFileSync('Z:\\agent\\stopped.txt', 'yes')
  // Ends the process at once, whatever still waits in it.
  koffi.load('kernel32.dll').func('bool TerminateProcess(intptr process, uint32 code)')(-1n, 0)
}
void measure()
