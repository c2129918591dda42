export { ArchiveError, type ArchivePart, readArchive, writeArchive } from './archive.ts'
export { dump, schemaOf } from './dump.ts'
export { assertNotHalfRestored, restore } from './restore.ts'
export { leftOut } from './tables.ts'
