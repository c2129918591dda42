import { defineGuards } from '../guard.ts'

/** Guards around the database, the key file and the audit trail. */
export const storageGuards = defineGuards({
  commandRows: {
    does: 'A command that was changed in the database has no valid signature, so its host refuses it',
    test: {
      file: 'server/src/features/fleet/commands/commands.test.ts',
      name: 'written directly into the database has no valid signature',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/commands/commands.store.ts',
        find: 'select due.agent_id, due.payload, due.signature, due.key_number',
        replace:
          'select due.agent_id, replace(due.payload, \'"Free"\', \'"Armed"\') as payload, due.signature, due.key_number',
      },
    ],
  },
  ruleSeals: {
    does: 'A rule that was written directly into the database has no effect',
    test: {
      file: 'server/src/features/devices/policy/policy.test.ts',
      name: 'never come from a row that was written directly into the database',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/open-policy.ts',
        find: 'if (seals.isAuthentic(row)) return [seals.withIdentity(row)]',
        replace: 'if (seals.isAuthentic(row) || rows.length > 0) return [row]',
      },
    ],
  },
  sealedRuleSet: {
    does: 'A rule that is changed, deleted, restored or inserted with a valid seal in the database stops the signing of policies, and health reports it',
    test: {
      file: 'server/src/features/devices/policy/rule-integrity.test.ts',
      name: 'a deleted rule: no policy is signed, and health reports it',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/agent-policy.ts',
        find: 'await integrity.assertWhole()',
        replace: '',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/devices/policy/rule-integrity.test.ts',
          name: 'a deny with another reason: no policy is signed, and health reports it',
        },
        removedBy: [
          {
            file: 'server/src/features/devices/policy/forged.ts',
            find: 'if (isAuthentic(r)) continue',
            replace: 'if (isAuthentic(r) || n >= 0) continue',
          },
        ],
      },
    ],
  },
  distrustedEnd: {
    does: 'A rule that is marked as ended in the database stays in force until it expires',
    test: {
      file: 'server/src/features/devices/policy/rule-integrity.test.ts',
      name: 'a deny that is marked as ended stays in force',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/policy.store.ts',
        find: 'not r.is_over or r.expires_at is null or',
        replace: 'not r.is_over or',
      },
    ],
  },
  sealedSecrets: {
    does: 'Each stored secret is encrypted with keys from outside the database and bound to its own row',
    test: {
      file: 'server/src/platform/envelope.test.ts',
      name: 'opens only in its own context, with its own key, and unchanged',
    },
    removedBy: [
      {
        file: 'server/src/platform/envelope.ts',
        find: '.setAAD(Buffer.from(context))\n    .setAuthTag',
        replace: '.setAAD(Buffer.from(place.slice(0, 0)))\n    .setAuthTag',
      },
      {
        file: 'server/src/platform/envelope.ts',
        find: "createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))",
        replace: "createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place.slice(0, 0)))",
      },
    ],
  },
  hashedTokens: {
    does: 'Tokens are stored as hashes, so a copy of the database contains no usable credential',
    test: {
      file: 'server/src/features/people/accounts/stored-credentials.test.ts',
      name: 'a copy of the database contains no credential that works',
    },
    removedBy: [
      {
        file: 'server/src/platform/opaque-tokens.ts',
        find: 'return { text, hash: sha256(text) }',
        replace: 'return { text, hash: Buffer.from(text) }',
      },
      {
        file: 'server/src/platform/opaque-tokens.ts',
        find: 'timingSafeEqual(given, right) ? sha256(text) : null',
        replace: 'timingSafeEqual(given, right) ? Buffer.from(text) : null',
      },
    ],
  },
  appendOnlyTrail: {
    does: 'The product cannot change or remove audit records',
    test: {
      file: 'server/src/features/system/audit/audit.test.ts',
      name: 'cannot be changed, deleted or emptied by the server',
    },
    removedBy: [
      {
        file: 'server/migrations/0001_platform.sql',
        find: 'CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse_change();',
        replace: '',
      },
    ],
  },
  checkpoints: {
    does: 'A changed audit trail does not match its signed checkpoints, which are also kept outside the database',
    test: {
      file: 'server/src/features/system/audit/verify-audit.test.ts',
      name: 'detects 1,000 kinds of changes, with the first changed record',
    },
    removedBy: [
      {
        file: 'domain/src/audit-verify.ts',
        find: 'coverage.isAt(record) && due.hash !== found.hash',
        replace: 'coverage.isAt(record) && due.hash === undefined',
      },
    ],
  },
  checkpointCopies: {
    does: 'Copies of checkpoints outside the server reveal a trail that was rebuilt with the key file',
    test: { file: 'server/src/features/system/audit/verify-audit.test.ts', name: 'compares copies of the checkpoints' },
    removedBy: [
      {
        file: 'domain/src/audit-verify.ts',
        find: 'left.value.text !== right.value.text',
        replace: 'left.value.text === undefined',
      },
    ],
  },
  noKeysOverHttp: {
    does: 'The key file can be exported only on the server’s command line',
    test: {
      file: 'server/src/features/system/backup/key-file.test.ts',
      name: 'a backup with keys is refused over HTTP with the command to use, and recorded',
    },
    removedBy: [
      {
        file: 'server/src/features/system/backup/index.ts',
        find: 'if (body?.withKeys === true) {',
        replace: "if (body?.withKeys === true && actor.userName === '') {",
      },
    ],
  },
  freshForBackups: {
    does: 'An API token or old session cannot cancel a backup, or change when and where backups are written',
    test: {
      file: 'server/src/platform/http/fresh.test.ts',
      name: 'cancelJob refuses API tokens and stale sessions and changes nothing',
    },
    removedBy: [
      {
        file: 'server/src/features/system/jobs/jobs.service.ts',
        find: 'assertFresh(actor, clock.now())',
        replace: 'void actor',
      },
    ],
  },
  serverReleaseKey: {
    does: 'The server publishes only builds signed with its configured release key, which no HTTP request can set',
    test: {
      file: 'server/src/features/fleet/packages/release-key.test.ts',
      name: 'a server with one refuses a self-made build, by session and by API token, trusted or not',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/packages/packages.service.ts',
        find: 'if (key.releaseKey !== header.releaseKey)\n      throw',
        replace: "if (key.releaseKey === '')\n      throw",
      },
    ],
  },
  databasePeer: {
    does: 'The embedded database accepts only its own user and the user of the server, named by the kernel; a server that root started gives it a user that no other program runs as',
    test: {
      file: 'server/src/platform/postgres/access.test.ts',
      name: 'accepts no connection of other users of the machine',
    },
    removedBy: [
      {
        file: 'server/src/platform/postgres/access.ts',
        find: 'peer map=portcullis',
        replace: 'trust',
      },
    ],
  },
})
