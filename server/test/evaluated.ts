import { parseReport, policyDevice } from '@portcullis/domain'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import type { EvaluatedDevice, Fingerprint } from '@portcullis/features/devices/server/index.ts'

const fingerprints = new Map<string, Fingerprint>()

/** Returns a reported device with its verdict. Equal descriptors and strings have the same fingerprint. */
export const evaluated = (report: DeviceReport, verdict: Partial<Fingerprint> = {}): EvaluatedDevice => {
  const key = JSON.stringify([report.descriptors, report.manufacturer, report.product, verdict])
  const { vid, pid } = parseReport(report)
  const fingerprint = fingerprints.get(key) ?? {
    id: fingerprints.size + 1,
    modelId: fingerprints.size + 1,
    shapeId: fingerprints.size + 1,
    fingerprint: key,
    vid,
    pid,
    vendorName: '',
    accepted: false,
    productName: '',
    icon: 98,
    severity: 10,
    vulnerable: false,
    attackTool: null,
    attackToolName: '',
    evidence: [],
    vulnerabilities: [],
    descriptors: report.descriptors,
    manufacturer: report.manufacturer ?? '',
    product: report.product ?? '',
    configuration: '',
    inputs: null,
    device: policyDevice(parseReport(report), report, null),
    levelOf: () => null,
    ...verdict,
  }
  fingerprints.set(key, fingerprint)
  return { report, fingerprint, serial: report.serial ?? '' }
}
