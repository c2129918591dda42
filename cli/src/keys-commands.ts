import { rotateKeys } from '@portcullis/contract'
import type { Command } from 'commander'
import type { createClient } from './client.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  show(answer: unknown, text: () => string): void
}

/** Keys of secrets at rest. */
export const registerKeysCommands = (program: Command, { client, show }: Terminal): void => {
  program
    .command('keys')
    .description('keys of secrets at rest')
    .command('rotate')
    .description('turns to a new key while the server runs; needs an API token of an Administrator')
    .action(async () => {
      const answer = await client().post<{ jobId: string }>(rotateKeys.path, {})
      show(answer, () => `It runs as job ${answer.jobId}. Copy the key file anew when it has ended.`)
    })
}
