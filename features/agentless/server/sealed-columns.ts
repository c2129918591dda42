import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import { aadOf } from './connections.service.ts'
import { testAad } from './tests.service.ts'
import { defaultsAad } from './worker.service.ts'

const secrets = ['password', 'private_key', 'passphrase'] as const

export const agentlessSealed: readonly SealedColumn[] = [
  ...secrets.map((column) => ({
    table: 'connections',
    key: 't.connection_id::text',
    column,
    context: (key: string) => `${aadOf(key)} ${column}`,
  })),
  ...secrets.map((column) => ({
    table: 'connection_defaults',
    key: 't.single::text',
    column,
    context: () => `${defaultsAad} ${column}`,
  })),
  { table: 'connection_tests', key: 't.test_id::text', column: 'poll', context: testAad },
]
