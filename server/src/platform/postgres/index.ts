export { runningEmbedded, startEmbeddedPostgres } from './embedded.ts'
export { assertDatabaseFitness } from './fitness.ts'
export { postgresOn } from './processes.ts'
