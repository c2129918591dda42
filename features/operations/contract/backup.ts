import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

export const createBackup = operation({
  id: 'createBackup',
  method: 'POST',
  path: '/prime/webui/admin/backup',
  tag: 'Admin',
  summary: 'Creates a backup of the database',
  description:
    'Streams the complete database as one file while the server runs. The backup is consistent as of one moment and has a checksum for each table. It omits sessions, tickets and links. With a passphrase, the backup is encrypted (scrypt, AES-256-GCM). It never contains the key file of the server, so the stored secrets stay encrypted. To include the key file, run `portcullis backup make --with-keys` on the server.',
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

export const backupStates = ['waiting', 'running', 'completed', 'failed'] as const

/** A scheduled backup, or one that a person started. */
export const BackupRun = closed({
  id: Type.String({ format: 'uuid' }),
  reason: Type.Enum(['schedule', 'manual']),
  createdBy: Type.String({ description: 'User name. `system`: on schedule.' }),
  createdAt: utcTime('Time at which it was due or ordered.'),
  endedAt: nullable(utcTime('Time at which it ended. `null` while it waits or runs.')),
  state: Type.Enum([...backupStates]),
  jobId: Type.String({ format: 'uuid', description: 'Its job, with the progress.' }),
  server: Type.String({ description: 'Name of the machine that wrote it. Empty while it waits.' }),
  file: Type.String({ description: 'Full path. Empty until the backup is complete.' }),
  isStored: Type.Boolean({ description: 'False: failed, not complete yet, or deleted because newer backups exist.' }),
  bytes: Type.Integer({ minimum: 0 }),
  isEncrypted: Type.Boolean(),
  verification: Type.Enum(['none', 'read', 'restored'], {
    description: '`restored`: restored into a temporary database, with equal tables. `read`: read again completely.',
  }),
  tables: Type.Integer({ minimum: 0 }),
  rows: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ description: 'SHA-256 of the file in hexadecimal. Empty until the backup is complete.' }),
  note: Type.String({ description: 'Remark, for example why it was not restored.' }),
  error: Type.String({ description: 'Cause and cure if it failed.' }),
})
export type BackupRun = Static<typeof BackupRun>

/** Number of runs that the server returns. */
export const shownBackupRuns = 50

export const BackupStatus = closed({
  isEnabled: Type.Boolean(),
  folder: Type.String({ description: 'Full path of the folder.' }),
  freeBytes: nullable(Type.Integer({ minimum: 0 }), {
    description: 'Free space of the folder on this server. `null` if it cannot be read.',
  }),
  problem: Type.String({ description: 'Why this server cannot write to the folder, and what to do. Empty if it can.' }),
  nextRunAt: nullable(utcTime('Time of the next backup. `null` if scheduled backups are disabled.')),
  runs: Type.Array(BackupRun, { description: `The newest ${shownBackupRuns}, newest first.` }),
})
export type BackupStatus = Static<typeof BackupStatus>

export const backupStatus = operation({
  id: 'backupStatus',
  method: 'GET',
  path: '/prime/webui/admin/backups',
  tag: 'Admin',
  summary: 'Returns the schedule and the last runs of the scheduled backups',
  permission: 'config:read',
  response: BackupStatus,
})

export const runBackup = operation({
  id: 'runBackup',
  method: 'POST',
  path: '/prime/webui/admin/backups/run',
  tag: 'Admin',
  summary: 'Starts a backup to the configured folder',
  description:
    'Uses the settings of the scheduled backups, even if the schedule is disabled. The job shows the progress. The backup appears under its name after it was verified.',
  permission: 'config:write',
  errors: ['conflict', 'unprocessable'],
  response: closed({ runId: Type.String({ format: 'uuid' }), jobId: Type.String({ format: 'uuid' }) }),
})
