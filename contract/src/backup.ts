import { Type } from 'typebox'
import { closed, nullable, operation } from './operation.ts'

export const createBackup = operation({
  id: 'createBackup',
  method: 'POST',
  path: '/prime/webui/admin/backup',
  tag: 'Admin',
  summary: 'Returns the whole database as one file, streamed while the server runs',
  description:
    'The backup is consistent as of one moment and has a checksum for each table. It omits sessions, tickets and links. With a passphrase it is encrypted (scrypt, AES-256-GCM). It never contains the key file of the server, so stored secrets in it stay encrypted. To include the key file, run `npm run cli -- backup make --with-keys` on the server.',
  permission: 'config:write',
  body: closed({
    passphrase: Type.Optional(nullable(Type.String({ minLength: 12, maxLength: 1_024 }))),
    withKeys: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            '`true` is refused with `keys_command_line_only`. The member remains so that older clients get this error.',
        }),
      ),
    ),
  }),
  bodyOptional: true,
  errors: ['keys_command_line_only', 'conflict'],
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/octet-stream',
})
