export {
  type DatabaseCrash,
  type EmbeddedConnection,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded.ts'
export { assertDatabaseFitness } from './fitness.ts'
