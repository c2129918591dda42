import { Type } from 'typebox'
import { closed, nullable, operation } from './operation.ts'

export const createBackup = operation({
  id: 'createBackup',
  method: 'POST',
  path: '/prime/webui/admin/backup',
  tag: 'Admin',
  summary: 'Gives everything the database holds as one file, streamed while the server works',
  description:
    "Of one moment, with a checksum for each table; sessions, tickets and links are left out. With a passphrase it is encrypted (scrypt, AES-256-GCM). The key file of the server goes into it only when asked for, and only into an encrypted one: without it, sealed secrets and agents' trust in commands can not be restored.",
  permission: 'config:write',
  body: closed({
    passphrase: Type.Optional(nullable(Type.String({ minLength: 12, maxLength: 1_024 }))),
    withKeys: Type.Optional(nullable(Type.Boolean())),
  }),
  bodyOptional: true,
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/octet-stream',
})
