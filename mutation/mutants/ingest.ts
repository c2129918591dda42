import type { Mutant } from '../mutant.ts'

const checkIn = 'server/src/ingest/check-in.test.ts'
const batcher = 'server/src/ingest/batcher.test.ts'

export const ingestMutants: readonly Mutant[] = [
  {
    does: 'A batch accepts one more report than its capacity',
    file: 'server/src/ingest/batcher.ts',
    find: 'waiting.length >= options.capacity',
    replace: 'waiting.length > options.capacity',
    test: batcher,
  },
  {
    does: 'A report with a sequence number that was processed is processed again',
    file: 'server/src/ingest/collect-report.ts',
    find: 'request.seq <= state.seq',
    replace: 'request.seq < state.seq',
    test: checkIn,
  },
]
