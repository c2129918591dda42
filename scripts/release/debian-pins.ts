/** The Debian packages of a container image: exact versions with their digests, and the files that the image needs. */
import pins from './debian-pins.json' with { type: 'json' }

export interface DebianPackage {
  name: string
  version: string
  /** Name of the source package, for the address of its source. */
  source: string
  /** SPDX expression of the files that the image contains. */
  licence: string
  why: string
  sha256: Record<'amd64' | 'arm64', string>
  /** Patterns of tar. `TRIPLET` and `LOADER` depend on the architecture. */
  files: readonly string[]
}

export const DEBIAN: { suite: string; release: number; packages: readonly DebianPackage[] } = pins
