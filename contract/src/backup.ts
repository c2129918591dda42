import { Type } from 'typebox'
import { closed, nullable, operation } from './operation.ts'

export const createBackup = operation({
  id: 'createBackup',
  method: 'POST',
  path: '/prime/webui/admin/backup',
  tag: 'Admin',
  summary: 'Returns everything that the database holds as one file, streamed while the server works',
  description:
    'The backup is consistent at one moment and has a checksum for each table; sessions, tickets and links are left out. With a passphrase it is encrypted (scrypt, AES-256-GCM). It never contains the key file of the server: stored secrets in it stay sealed. `portcullis backup make --with-keys`, run on the machine of the server, writes a backup that contains the key file.',
  permission: 'config:write',
  body: closed({
    passphrase: Type.Optional(nullable(Type.String({ minLength: 12, maxLength: 1_024 }))),
    withKeys: Type.Optional(
      nullable(
        Type.Boolean({
          description: '`true` is refused with `keys_command_line_only`; kept so that older callers learn why.',
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
