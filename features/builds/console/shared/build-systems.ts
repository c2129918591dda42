import type { PackageArchitecture } from '#features/contract.ts'

/** Labels of the systems that agent builds are for. */
export const buildSystems: Readonly<Record<PackageArchitecture, string>> = {
  x64: 'Linux x64',
  arm64: 'Linux arm64',
  'windows-x64': 'Windows x64',
}
