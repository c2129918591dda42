export { startEmbeddedPostgres } from './embedded.ts'
export { assertDatabaseFitness } from './fitness.ts'
