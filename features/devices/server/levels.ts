import {
  type AttackLevel,
  classify,
  cleanText,
  type Knowledge,
  parseReport,
  steadyReport,
  unescapeText,
} from '@portcullis/domain'
import type { FingerprintedDevice, LevelOf, StoredFingerprint } from './fingerprint.ts'

type EvaluatedFingerprint = Pick<StoredFingerprint, 'descriptors' | 'manufacturer' | 'product' | 'inputs'>

/**
 * Returns the level that a host finds for a device by the same knowledge. A host evaluates by the data that the kernel
 * shows before and after authorisation. That excludes the report descriptors and the configuration name, which the
 * stored verdict may use.
 *
 * Few fingerprints depend on the serial number of a device. For the others, one verdict (about 20 µs) serves all devices
 * of a speed.
 */
export const levelsBy = (knowledge: Knowledge, fingerprint: EvaluatedFingerprint): LevelOf => {
  const known = new Map<string, AttackLevel | null>()
  const { descriptors, manufacturer, product, inputs } = fingerprint
  function evaluate({ serial, speed, portPath }: FingerprintedDevice): AttackLevel | null {
    const report = steadyReport({
      portPath,
      descriptors,
      manufacturer,
      product,
      serial: unescapeText(serial),
      ...(speed === 0 ? {} : { speedMbps: speed }),
      removable: inputs?.removable ?? 'unknown',
    })
    const parsed = parseReport(report)
    return knowledge.assess(parsed, report, classify(parsed, report).kinds).attackTool?.level ?? null
  }
  return (device) => {
    if (device.serial !== '' && knowledge.namesSerial(cleanText(unescapeText(device.serial)))) return evaluate(device)
    const key = `${device.speed} ${device.portPath.includes('-')} ${device.serial === ''}`
    const before = known.get(key)
    if (before !== undefined) return before
    const level = evaluate(device)
    known.set(key, level)
    return level
  }
}
