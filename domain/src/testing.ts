/**
 * Builders for tests and the simulator: device reports with real descriptor bytes, the matching sysfs files of a Linux
 * kernel, and a host. They write no files.
 */
export * from './testing-build.ts'
export * from './testing-host.ts'
export * from './testing-kernel-tree.ts'
export * from './testing-presets.ts'
export * from './testing-release-keys.ts'
export * from './testing-report-descriptors.ts'
export * from './testing-sysfs.ts'
export * from './testing-table.ts'
export * from './testing-unless.ts'
