import { Type } from 'typebox'
import { closed, nullable, operation } from './operation.ts'

export const createBackup = operation({
  id: 'createBackup',
  method: 'POST',
  path: '/prime/webui/admin/backup',
  tag: 'Admin',
  summary: 'Creates a backup of the database',
  description:
    'Streams the complete database as one file while the server runs. The backup is consistent as of one moment and has a checksum for each table. It omits sessions, tickets and links. With a passphrase, the backup is encrypted (scrypt, AES-256-GCM). It never contains the key file of the server, so the stored secrets stay encrypted. To include the key file, run `npm run cli -- backup make --with-keys` on the server.',
  permission: 'config:write',
  body: closed({
    passphrase: Type.Optional(nullable(Type.String({ minLength: 12, maxLength: 1_024 }))),
    withKeys: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            '`true` is refused with `keys_command_line_only`. The field remains so that older clients get this error.',
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
