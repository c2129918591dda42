/** Operating systems of simulated hosts, and what their agents report about a device. */

import { syntheticReport, usageDescriptor } from '@portcullis/domain'
import type { DeviceReport } from '@portcullis/features/contract.ts'
import type { Model } from './models.ts'
import type { Random } from './random.ts'

export const platforms = ['windows', 'linux', 'macos'] as const
export type Platform = (typeof platforms)[number]

/** Shares of the platforms, as weights. */
export type Mix = Readonly<Record<Platform, number>>

/** Mostly Linux, so that most hosts of a trial can be armed. */
export const defaultMix: Mix = { windows: 20, linux: 70, macos: 10 }

/** Multiples of the golden ratio spread evenly over [0, 1), so every stretch of the fleet has nearly the mix. */
const goldenRatio = (Math.sqrt(5) - 1) / 2

/** Returns the platform of the host with an index. */
export const platformOf = (index: number, mix: Mix): Platform => {
  let left = ((index * goldenRatio) % 1) * (mix.windows + mix.linux + mix.macos)
  for (const platform of platforms) {
    left -= mix[platform]
    if (left < 0) return platform
  }
  return platforms.findLast((platform) => mix[platform] > 0) ?? 'linux'
}

/** Share of devices on Windows whose hub refuses to return descriptors. */
const refusingHubs = 0.15

type Code = [number, number, number]
const codeOf = (text: string): Code => text.split(':').map((hex) => Number.parseInt(hex, 16)) as Code

const interfacesOf = (model: Model): { number: number; code: Code }[] =>
  model.interfaces.flatMap((spec, at) => {
    if (typeof spec === 'string') return [{ number: at, code: codeOf(spec) }]
    return spec.alternate === undefined || spec.alternate === 0
      ? [{ number: spec.number ?? at, code: codeOf(spec.code) }]
      : []
  })

/** Top-level collections of a HID interface, as page and usage: keyboard, mouse, security key or media keys. */
const usagesOf = (code: Code, model: Model): [number, number] =>
  code[2] === 1 ? [1, 6] : code[2] === 2 ? [1, 2] : /FIDO|Security Key/.test(model.product) ? [0xf1d0, 1] : [12, 1]

/** Returns what the agent for Windows reads of report descriptors: the usages, but not the descriptors. */
const usageDescriptors = (model: Model): string[] =>
  interfacesOf(model)
    .filter(({ code }) => code[0] === 3)
    .map(({ code }) => usageDescriptor([usagesOf(code, model)]))

type LooseDevice = Omit<DeviceReport, 'portPath'>

/**
 * Returns the report of a device on another platform. Windows returns descriptors only through its hubs and no report
 * descriptors; macOS returns no descriptors.
 */
export const reportedOn = (
  platform: Platform,
  { model, revision, linux, random }: { model: Model; revision: string; linux: LooseDevice; random: Random },
): LooseDevice => {
  if (platform === 'linux') return linux
  const isWindows = platform === 'windows'
  const reportDescriptors = isWindows ? usageDescriptors(model) : []
  const evidence = reportDescriptors.length === 0 ? {} : { reportDescriptors }
  if (isWindows && !random.chance(refusingHubs)) return { ...linux, ...evidence }
  const { manufacturer, product, serial, speedMbps, removable } = linux
  const { portPath: _, ...report } = syntheticReport({
    portPath: '',
    vid: Number.parseInt(model.vid, 16),
    pid: Number.parseInt(model.pid, 16),
    bcdDevice: Number.parseInt(revision, 16),
    interfaces: interfacesOf(model),
    ...(model.deviceCode === undefined ? {} : { deviceCode: codeOf(model.deviceCode) }),
    ...(product === undefined ? {} : { product }),
    ...(serial === undefined ? {} : { serial }),
    ...(removable === undefined ? {} : { removable }),
    ...(isWindows || manufacturer === undefined ? {} : { manufacturer }),
    ...(isWindows || speedMbps === undefined ? {} : { speedMbps }),
  })
  return { ...report, ...evidence, ...(isWindows ? { authorized: true } : {}) }
}
