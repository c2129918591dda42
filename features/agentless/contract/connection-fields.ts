import { pollPlatforms } from '@portcullis/contract/worker-protocol.ts'
import { nullable } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'

/** Platforms of a connection. The worker replaces `auto` with the platform that it detects at the first poll. */
export const connectionPlatforms = ['auto', ...pollPlatforms] as const

/** Limits and default of the polling interval, in minutes. */
export const pollInterval = { min: 1, max: 10_080, default: 15 } as const

const secret = (max: number, description: string) =>
  Type.Optional(
    nullable(Type.String({ maxLength: max, description: `${description} Write-only. Absent or \`null\`: unchanged.` })),
  )

/** SSH credentials in requests. */
export const credentials = {
  userName: Type.Optional(nullable(Type.String({ maxLength: 255, description: 'SSH user name.' }))),
  password: secret(1_024, 'SSH password.'),
  privateKey: secret(65_536, 'Private key in OpenSSH or PEM format.'),
  passphrase: secret(1_024, 'Passphrase of the private key.'),
}
/** Fields of connections and of their defaults. */
export const port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port of the SSH server.' })
export const platform = Type.Enum(connectionPlatforms)
export const intervalMinutes = Type.Integer({
  minimum: pollInterval.min,
  maximum: pollInterval.max,
  description: 'Polling interval in minutes.',
})
