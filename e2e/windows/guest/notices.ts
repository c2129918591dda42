/** Runs under Wine: writes an event and shows a message. Wine stores neither, so this tests only the calls. */
import { writeFileSync } from 'node:fs'
import { createEventLog, createReportEvent } from '../../../agent/src/platform/windows/event-log.ts'
import { loadKoffi } from '../../../agent/src/platform/windows/koffi.ts'
import { createMessage } from '../../../agent/src/platform/windows/message.ts'

const koffi = loadKoffi()
const report = createReportEvent(koffi)
const results: boolean[] = []
const toEventLog = createEventLog((type, id, text) => {
  const isWritten = report(type, id, text)
  results.push(isWritten)
  return isWritten
})
toEventLog(JSON.stringify({ level: 'info', event: 'host_armed', reason: 'Ü 100 %' }))
toEventLog(JSON.stringify({ level: 'error', event: 'policy_refused', message: 'x'.repeat(50_000) }))
const failures: string[] = []
const began = performance.now()
createMessage(koffi)('Portcullis blocked a USB device.'.repeat(1000), (message) => failures.push(message))
writeFileSync('Z:\\agent\\notices.json', JSON.stringify({ results, failures, ms: performance.now() - began }))
