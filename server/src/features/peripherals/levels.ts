import type { DeviceReport } from '@portcullis/contract'
import { type AttackLevel, classify, type Knowledge, parseReport, steadyReport } from '@portcullis/domain'

/** What a verdict looks at beside the design. */
export interface DeviceOfDesign {
  /** Cleaned; empty when the device has none. */
  serial: string
  /** Mbit/s; 0 when not known. */
  speed: number
  portPath: string
}

/** Attack-tool level of one device of a design. */
export type LevelOf = (device: DeviceOfDesign) => AttackLevel | null

interface DesignTexts {
  descriptors: string
  manufacturer: string
  product: string
}

/**
 * The level that a host finds for a device by the same knowledge: by what the kernel shows before and after it is
 * authorised, so without the report descriptors and the configuration's name that a design's own verdict may rest on.
 * Few designs are judged by the serial number of a device; for the others one verdict (some 20 µs) serves all devices of
 * a speed.
 */
export const levelsBy = (knowledge: Knowledge, design: DesignTexts): LevelOf => {
  const known = new Map<string, AttackLevel | null>()
  const judge = ({ serial, speed, portPath }: DeviceOfDesign): { level: AttackLevel | null; looked: boolean } => {
    let looked = false
    const report: DeviceReport = {
      ...steadyReport({
        portPath,
        descriptors: design.descriptors,
        manufacturer: design.manufacturer,
        product: design.product,
        ...(speed === 0 ? {} : { speedMbps: speed }),
      }),
      get serial(): string | undefined {
        looked = true
        return serial === '' ? undefined : serial
      },
    } as DeviceReport
    const parsed = parseReport(report)
    const { attackTool } = knowledge.assess(parsed, report, classify(parsed, report).kinds)
    return { level: attackTool?.level ?? null, looked }
  }
  return (device) => {
    const key = `${device.speed} ${device.portPath.includes('-')}`
    const before = known.get(key)
    if (before !== undefined) return before
    const { level, looked } = judge(device)
    if (!looked) known.set(key, level)
    return level
  }
}
