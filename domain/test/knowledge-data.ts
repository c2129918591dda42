import { readFileSync } from 'node:fs'
import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { classify, createKnowledge, parseReport } from '@portcullis/domain'

const read = (file: string): string => readFileSync(new URL(`../../knowledge/${file}`, import.meta.url), 'utf8')

/** The shipped knowledge. */
export const knowledge = createKnowledge({
  version: JSON.parse(read('manifest.json')).version,
  usbIdsText: read('usb.ids'),
  attackTools: JSON.parse(read('attack-tools.json')),
  vulnerable: JSON.parse(read('vulnerable-peripherals.json')),
  genuine: JSON.parse(read('genuine-descriptors.json')),
  supplement: JSON.parse(read('vendor-supplement.json')),
  registries: JSON.parse(read('registries.json')),
})

/** Returns the classification and findings for a report. */
export const evaluate = (report: DeviceReport) => {
  const parsed = parseReport(report)
  const classes = classify(parsed, report)
  return { parsed, ...classes, ...knowledge.assess(parsed, report, classes.kinds) }
}
