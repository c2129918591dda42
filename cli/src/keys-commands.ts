import { rotateKeys } from '@portcullis/features/contract.ts'
import type { Command } from 'commander'
import type { Terminal } from './client.ts'

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
