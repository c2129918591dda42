import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract'
import { hasSerial, type ParsedDescriptors } from './descriptors.ts'
import { cleanText } from './text.ts'

/** What `classify` and `assess` read of a report beside its descriptors and the names a design is stored with. */
export interface VerdictInputs {
  /** Mbit/s; 0 when not known. */
  speed: number
  removable: 'removable' | 'fixed' | 'unknown'
  /** The serial number where the knowledge has a pattern that it matches; else only whether there is one. */
  serial: string | boolean
  /** Base64, in interface order. */
  reportDescriptors: readonly string[]
}

const texts = ['manufacturer', 'product', 'serial', 'configuration'] as const

/** A report as verdicts read it: texts cleaned and empty ones absent, so that what is stored gives the same verdict. */
export const judgedReport = (report: DeviceReport): DeviceReport => {
  const judged: DeviceReport = { portPath: report.portPath, descriptors: report.descriptors }
  for (const key of texts) {
    const clean = cleanText(report[key] ?? '')
    if (clean !== '') judged[key] = clean
  }
  if (report.speedMbps) judged.speedMbps = report.speedMbps
  if (report.removable !== undefined && report.removable !== 'unknown') judged.removable = report.removable
  const { reportDescriptors = [] } = report
  if (reportDescriptors.length > 0) judged.reportDescriptors = reportDescriptors
  return judged
}

/** The inputs of a verdict. `namesSerial` says whether the knowledge looks for this serial number. */
export const verdictInputs = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  namesSerial: (serial: string) => boolean,
): VerdictInputs => {
  const { serial = '', speedMbps = 0, removable = 'unknown', reportDescriptors = [] } = judgedReport(report)
  return {
    speed: speedMbps,
    removable,
    serial: serial !== '' && namesSerial(serial) ? serial : hasSerial(parsed, report),
    reportDescriptors,
  }
}

/**
 * Two devices share a verdict if and only if they share this key: 32 hex digits over the exact fingerprint (descriptors
 * and strings) and everything else that a verdict reads.
 */
export const verdictKey = (exact: string, { speed, removable, serial, reportDescriptors }: VerdictInputs): string =>
  hash('sha256', JSON.stringify(['verdict', exact, speed, removable, serial, reportDescriptors]), 'hex').slice(0, 32)
