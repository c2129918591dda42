export { runningEmbedded, startEmbeddedPostgres } from './embedded.ts'
export { assertDatabaseFitness } from './fitness.ts'
export { assertDataDirFree } from './instance-lock.ts'
export { postgresOn } from './processes.ts'
