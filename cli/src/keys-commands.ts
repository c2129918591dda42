import { rotateKeys } from '@portcullis/contract'
import type { Command } from 'commander'
import type { createClient } from './client.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  show(answer: unknown, text: () => string): void
}

/** Commands for the keys of secrets at rest. */
export const registerKeysCommands = (program: Command, { client, show }: Terminal): void => {
  program
    .command('keys')
    .description('keys of secrets at rest')
    .command('rotate')
    .description('rotates the key while the server runs; needs an API token of an Administrator')
    .action(async () => {
      const answer = await client().post<{ jobId: string }>(rotateKeys.path, {})
      show(
        answer,
        () => `Started the rotation as job ${answer.jobId}. Back up the key file again when the job has ended.`,
      )
    })
}
