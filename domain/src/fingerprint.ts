import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { hasSerial, interfaceCode, type ParsedDescriptors } from './descriptors.ts'
import { cleanText } from './text.ts'

const sha256 = (text: string): string => hash('sha256', text, 'hex').slice(0, 32)

/** Returns true for a word with a version (`v1.8.2`, `RQR12.07_B0029`, `2.4.17-df61092`). */
const isVersionWord = (word: string): boolean => /\d[._]\d/.test(word) || /^v\d+$/i.test(word)

const withoutVersions = (text: string | undefined): string =>
  text === undefined
    ? ''
    : cleanText(text)
        .split(' ')
        .filter((word) => word !== '' && !isVersionWord(word))
        .join(' ')

/** Classes whose protocol names a transport, a version or a speed: audio, mass storage and hubs. */
const changingProtocols: ReadonlySet<number> = new Set([0x01, 0x08, 0x09])

const codeOf = (cls: number, subclass: number, protocol: number): string =>
  interfaceCode({ class: cls, subclass, protocol: changingProtocols.has(cls) ? 0 : protocol })

/**
 * Returns what a rule for a device binds: VID and PID, the classes of the device and of all its interfaces, its strings without
 * versions, and whether it has a serial number. It leaves out all that depends on the port: USB version, packet sizes,
 * intervals, power, companion descriptors and alternate settings. Descriptors that cannot be read to their end count as
 * they are, because an interface may be missing. 32 hex digits.
 */
export const ruleFingerprint = (parsed: ParsedDescriptors, report: DeviceReport): string => {
  const { vid, pid, deviceClass, deviceSubclass, deviceProtocol } = parsed
  const interfaces = parsed.configurations.flatMap((one) => one.interfaces)
  return sha256(
    JSON.stringify([
      'rule',
      vid,
      pid,
      codeOf(deviceClass, deviceSubclass, deviceProtocol),
      [...new Set(interfaces.map((one) => codeOf(one.class, one.subclass, one.protocol)))].sort(),
      withoutVersions(report.manufacturer),
      withoutVersions(report.product),
      hasSerial(parsed, report),
      parsed.isComplete ? '' : withoutRevisionBytes(report),
    ]),
  )
}

const withoutRevisionBytes = (report: DeviceReport): string => {
  const bytes = Buffer.from(report.descriptors, 'base64')
  bytes.subarray(12, 14).fill(0)
  return bytes.toString('base64')
}

/**
 * Returns two fingerprints of a device, 32 hex digits each. `exact` covers every byte of the descriptors and all strings.
 * `withoutRevision` omits bcdDevice and words with a version, so it stays the same after a firmware update. Of the serial
 * number, only its presence counts.
 */
export const fingerprints = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
): { exact: string; withoutRevision: string } => {
  const serial = hasSerial(parsed, report)
  const text = (value: string | undefined): string | null => (value === undefined ? null : cleanText(value))
  const exact = [
    report.descriptors,
    text(report.manufacturer),
    text(report.product),
    text(report.configuration),
    serial,
  ]
  const withoutRevision = [
    withoutRevisionBytes(report),
    withoutVersions(report.manufacturer),
    withoutVersions(report.product),
    withoutVersions(report.configuration),
    serial,
  ]
  return { exact: sha256(JSON.stringify(exact)), withoutRevision: sha256(JSON.stringify(withoutRevision)) }
}
