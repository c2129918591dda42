import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { activeConfiguration, hasSerial, type ParsedDescriptors } from './descriptors.ts'
import { cleanText, escapeText, isOddText } from './text.ts'

export interface ReportedNames {
  manufacturer?: string
  product?: string
}

/** All inputs of `classify` and `assess` from a report, except its descriptors and the stored names. */
export interface VerdictInputs {
  /** Mbit/s; 0 if unknown. */
  speed: number
  removable: 'removable' | 'fixed' | 'unknown'
  /** The serial number if it matches a pattern of the knowledge, otherwise only whether there is one. */
  serial: string | boolean
  /** Base64, in interface order. */
  reportDescriptors: readonly string[]
  /** bConfigurationValue, if another configuration than the first is active. */
  configurationValue?: number
  /** Reported names that the server cleaned, escaped. No verdict reads them. */
  reported?: ReportedNames
}

const texts = ['manufacturer', 'product', 'serial', 'configuration'] as const

/** Normalises a report for verdicts: cleans texts and drops empty ones, so that the stored report gives the same verdict. */
export const evaluatedReport = (report: DeviceReport): DeviceReport => {
  const evaluated: DeviceReport = { portPath: report.portPath, descriptors: report.descriptors }
  for (const key of texts) {
    const clean = cleanText(report[key] ?? '')
    if (clean !== '') evaluated[key] = clean
  }
  if (report.speedMbps) evaluated.speedMbps = report.speedMbps
  // Stryker disable next-line ConditionalExpression: An absent value is read as unknown.
  if (report.removable !== undefined && report.removable !== 'unknown') evaluated.removable = report.removable
  const { reportDescriptors = [] } = report
  if (reportDescriptors.length > 0) evaluated.reportDescriptors = reportDescriptors
  if (report.configurationValue) evaluated.configurationValue = report.configurationValue
  return evaluated
}

const nameLength = 255

/** Returns the names that cleaning changes by more than outer spaces. */
const reportedNames = (report: DeviceReport): ReportedNames | undefined => {
  const names: ReportedNames = {}
  for (const key of ['manufacturer', 'product'] as const) {
    const name = report[key]
    if (name !== undefined && isOddText(name)) names[key] = escapeText(name.slice(0, nameLength))
  }
  return Object.keys(names).length === 0 ? undefined : names
}

/** Returns the inputs of a verdict. `namesSerial`: the knowledge has a pattern that matches this serial number. */
export const verdictInputs = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  namesSerial: (serial: string) => boolean,
): VerdictInputs => {
  const { serial = '', speedMbps = 0, removable = 'unknown', reportDescriptors = [] } = evaluatedReport(report)
  const active = activeConfiguration(parsed, report)
  const reported = reportedNames(report)
  return {
    // Stryker disable next-line ConditionalExpression: Without configurations, the first one is also undefined.
    ...(active === parsed.configurations[0] || active === undefined ? {} : { configurationValue: active.value }),
    speed: speedMbps,
    removable,
    serial: serial !== '' && namesSerial(serial) ? serial : hasSerial(parsed, report),
    reportDescriptors,
    ...(reported === undefined ? {} : { reported }),
  }
}

/**
 * Returns the key of a verdict: devices with the same key share a verdict and its stored names. The key is 32 hex digits,
 * a hash over the exact fingerprint (descriptors and strings), all other inputs of the verdict, and reported names that were cleaned.
 */
export const verdictKey = (
  exact: string,
  { speed, removable, serial, reportDescriptors, configurationValue, reported }: VerdictInputs,
): string => {
  const inputs = [speed, removable, serial, reportDescriptors, ...(configurationValue ? [configurationValue] : [])]
  if (reported !== undefined) inputs.push([reported.manufacturer ?? '', reported.product ?? ''])
  return hash('sha256', JSON.stringify(['verdict', exact, ...inputs]), 'hex').slice(0, 32)
}
