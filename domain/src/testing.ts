/**
 * Builders for tests and the simulator: device reports with real descriptor bytes, and the sysfs files a Linux kernel
 * would show for them. Pure: nothing is written.
 */
export * from './testing-build.ts'
export * from './testing-presets.ts'
export * from './testing-sysfs.ts'
