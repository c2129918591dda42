import { Refusal } from '../bootstrap/say.mjs'

/** A system that a release is built for. */
export interface Target {
  /** As in names of files. */
  name: 'linux-x64' | 'linux-arm64'
  os: 'linux'
  arch: 'x64' | 'arm64'
  /** The architecture as Debian names it. Container images use the same names. */
  debian: 'amd64' | 'arm64'
  /** Folder of libraries on Debian. */
  triplet: string
  /** The value of `e_machine` in programs. */
  machine: number
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', os: 'linux', arch: 'x64', debian: 'amd64', triplet: 'x86_64-linux-gnu', machine: 62 },
  { name: 'linux-arm64', os: 'linux', arch: 'arm64', debian: 'arm64', triplet: 'aarch64-linux-gnu', machine: 183 },
]

/** Returns the target that this machine can run. Releases are built there. */
export const hostTarget = (): Target => {
  const target = TARGETS.find(({ os, arch }) => os === process.platform && arch === process.arch)
  if (target === undefined)
    throw new Refusal(`Releases are built on Linux with x64 or arm64, not on ${process.platform} ${process.arch}.`)
  return target
}
