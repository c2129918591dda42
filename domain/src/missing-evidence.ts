import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { evidenceGaps, type MissingEvidence } from '@portcullis/contract/missing-evidence.ts'
import { isSynthetic, type ParsedDescriptors } from './descriptors.ts'
import { isUsageDescriptor } from './hid.ts'
import { evaluatedReport } from './verdict-key.ts'

const HID = 0x03
const gaps = Object.keys(evidenceGaps) as MissingEvidence[]

/**
 * Returns the evidence that a verdict on this report could not examine, in the order of the interface. Empty if the host
 * returned everything that the device declares. Reads only inputs of the verdict key, so devices that share a verdict
 * also share this list.
 */
export const missingEvidence = (parsed: ParsedDescriptors, report: DeviceReport): MissingEvidence[] => {
  const { manufacturer, product, configuration, speedMbps, removable, reportDescriptors = [] } = evaluatedReport(report)
  const { configurations, iManufacturer, iProduct } = parsed
  const hasDescriptors = !isSynthetic(parsed)
  const hid = new Set(configurations.flatMap((c) => c.interfaces.filter((i) => i.class === HID).map((i) => i.number)))
  const examined = reportDescriptors.filter((text) => !isUsageDescriptor(text))
  // The report does not say which configuration is active. Its name is missing if each configuration has one.
  const namesConfiguration = configurations.length > 0 && configurations.every((c) => c.iConfiguration !== 0)
  const isMissing: Record<MissingEvidence, boolean> = {
    descriptors: !parsed.isComplete,
    'report-descriptors': examined.length < hid.size,
    strings:
      !hasDescriptors ||
      (iManufacturer !== 0 && manufacturer === undefined) ||
      (iProduct !== 0 && product === undefined) ||
      (namesConfiguration && configuration === undefined),
    speed: speedMbps === undefined,
    // Linux often reports that the type of port is unknown. This does not count as missing.
    port: !hasDescriptors && removable === undefined,
  }
  return gaps.filter((gap) => isMissing[gap])
}
