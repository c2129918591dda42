/** A system that a release is built for. */
export interface Target {
  /** As in names of files. */
  name: 'linux-x64' | 'linux-arm64'
  os: 'linux'
  arch: 'x64' | 'arm64'
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', os: 'linux', arch: 'x64' },
  { name: 'linux-arm64', os: 'linux', arch: 'arm64' },
]
