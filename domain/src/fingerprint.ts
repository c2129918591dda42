import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract'
import { hasSerial, type ParsedDescriptors } from './descriptors.ts'
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
  const bytes = Buffer.from(report.descriptors, 'base64')
  bytes.subarray(12, 14).fill(0)
  const withoutRevision = [
    bytes.toString('base64'),
    withoutVersions(report.manufacturer),
    withoutVersions(report.product),
    withoutVersions(report.configuration),
    serial,
  ]
  return { exact: sha256(JSON.stringify(exact)), withoutRevision: sha256(JSON.stringify(withoutRevision)) }
}
