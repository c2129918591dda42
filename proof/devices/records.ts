import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import type { Fixture } from './measure.ts'

interface DeviceRecord {
  vid: string
  pid: string
  /** Hex: the device descriptor and all configurations. */
  descriptors: string
  manufacturer?: string
  product?: string
  serial?: string
  configuration?: string
  speed?: number
  /** HID report descriptors by interface number, hex. */
  reports?: readonly (readonly [number, string])[]
  label?: string
  isTool?: boolean
  quality?: string
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

const reportOf = (record: DeviceRecord): DeviceReport => {
  const report: DeviceReport = { portPath: '1-1', descriptors: base64(record.descriptors) }
  for (const key of ['manufacturer', 'product', 'serial', 'configuration'] as const)
    if (record[key]) report[key] = record[key]
  if (record.speed) report.speedMbps = record.speed
  if (record.reports?.length) report.reportDescriptors = record.reports.map(([, hex]) => base64(hex))
  return report
}

/** Reads records of real devices from a JSON file, which may be compressed by gzip. */
export const readRecords = (path: string): Fixture[] => {
  const bytes = readFileSync(path)
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8')
  return (JSON.parse(text) as DeviceRecord[]).map((record) => ({
    name: `${record.vid}:${record.pid} ${record.manufacturer ?? ''} ${record.product ?? ''}`.trim(),
    report: reportOf(record),
    kind: record.label,
    isTool: record.isTool === true,
  }))
}
