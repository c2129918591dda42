import type { SealedColumn } from '#platform/sealed-column.ts'
import { placeOf } from './connections.service.ts'
import { testPlace } from './tests.service.ts'
import { defaultsPlace } from './worker.service.ts'

const secrets = ['password', 'private_key', 'passphrase'] as const

/** Where this feature keeps sealed secrets. */
export const agentlessSealed: readonly SealedColumn[] = [
  ...secrets.map((column) => ({
    table: 'connections',
    key: 't.connection_id::text',
    column,
    place: (key: string) => `${placeOf(key)} ${column}`,
  })),
  ...secrets.map((column) => ({
    table: 'connection_defaults',
    key: 't.single::text',
    column,
    place: () => `${defaultsPlace} ${column}`,
  })),
  { table: 'connection_tests', key: 't.test_id::text', column: 'poll', place: testPlace },
]
