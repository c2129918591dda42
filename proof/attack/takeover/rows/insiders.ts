import { detected, notApplicable, possible, type Row, refused } from '../cell.ts'

export const databaseReader: Row = {
  runProgram: refused(['hashedTokens', 'agentReleaseKey']),
  freeHost: refused(['hashedTokens', 'commandSignature']),
  allowDevice: refused([
    'hashedTokens',
    'ruleSeals',
    'sealedRuleSet',
    'recordedSeal',
    'distrustedEnd',
    'policySignature',
  ]),
  readSecret: refused(
    ['sealedSecrets', 'hashedTokens'],
    'The inventory, the rules and the audit trail are readable. Weak passwords of accounts can be guessed from their argon2id hashes.',
  ),
  impersonateHost: refused(['agentSession'], 'The database contains only the public keys of hosts.'),
  forgeEvent: notApplicable,
  forgeTrail: notApplicable,
  denyService: notApplicable,
  lockOut: notApplicable,
}

const onlyPolled = 'Only on polled hosts. Hosts with an agent install only builds that are signed with the release key.'
const polledAccounts = 'Poll with accounts that may only read. Change the passwords and keys of polled hosts.'

const administratorRow =
  'A database writer can insert an account with a password they know and act as an Administrator within the gate’s limits; '

export const databaseWriter: Row = {
  runProgram: possible(
    `${onlyPolled} A database writer can change the address of a polled host, and receive its password there.`,
    polledAccounts,
    ['agentReleaseKey', 'commandRows'],
  ),
  freeHost: possible(
    `Hosts and server ignore commands, revocations and rules that were written directly into the database. ${administratorRow}a second inserted account can approve.`,
    'Treat write access to the database as Administrator access. Restore the accounts from a backup, end all sessions, and compare the audit trail with its checkpoints.',
  ),
  allowDevice: possible(
    `If a rule was changed, deleted, restored or inserted with a valid seal in the database, the server signs no policies and raises an alert. A rule that never had a valid seal has no effect. The server does not notice if all rules are put back with their earlier seal, or if rules are changed before their first sealing, an hour after an upgrade from 0.2. A key file that records no sealing, because the server cannot write it, leaves that to the database after each restart. A change within the second that a check is shared can reach a host. Tags decide which rules apply to a host and are not sealed. ${administratorRow}the audit trail records rules created that way.`,
    'The same as for freeing hosts. `portcullis doctor` names the rules.',
  ),
  readSecret: possible(
    'Secrets stay encrypted in the database. A database writer can change where the server sends one, such as the address of a polled host or of the mail server, and receive it there.',
    'Change every stored password at its source, and restore the configuration from a backup.',
  ),
  impersonateHost: possible(
    'A database writer can replace the public key of a host, so that another machine reports in its name. That machine receives the policy of the host, and no other secret.',
    'Enrol the host again. The genuine host reports that the server no longer knows it.',
  ),
  forgeEvent: possible(
    'Events can be inserted, changed or deleted.',
    'Send events to a SIEM, which keeps its own copy, and compare.',
  ),
  forgeTrail: detected(
    ['checkpoints', 'appendOnlyTrail'],
    'The checkpoints do not cover the records of the last minute. A server that never had an anchor trusts the database about the time of its upgrade.',
  ),
  denyService: possible(
    'Tables can be emptied or dropped. Hosts keep enforcing their last signed policy.',
    'Restore a backup.',
  ),
  lockOut: possible(
    'Accounts can be deleted or disabled.',
    'Restore a backup, or reset an account on the server’s command line.',
  ),
}

export const databaseWriterWithKeys: Row = {
  runProgram: possible(
    `${onlyPolled} The attacker can decrypt the passwords and keys of polled hosts.`,
    polledAccounts,
    ['agentReleaseKey'],
  ),
  freeHost: possible(
    'The attacker can sign commands and policies with the key file, and free every host that connects to the server.',
    'Rotate the command key on the server (`portcullis command-key rotate`), restore the database, and arm the hosts again.',
  ),
  allowDevice: possible(
    'The attacker can seal rules and sign policies with the key file.',
    'Rotate the keys, restore the database, and review the rules.',
  ),
  readSecret: possible(
    'The attacker can decrypt all stored passwords of mail, directory, SSH hosts and webhooks. Account passwords and tokens remain hashed.',
    'Change every stored password at its source, rotate the sealing keys, and restore the database.',
  ),
  impersonateHost: possible(
    'The attacker can create session tokens of hosts.',
    'Rotate the key file and enrol the hosts again.',
  ),
  forgeEvent: possible('Events can be inserted, changed or deleted.', 'Compare with the SIEM.'),
  forgeTrail: detected(
    ['checkpointCopies'],
    'Only if copies of the checkpoints are kept on another machine. The attacker can rebuild everything on the server.',
  ),
  denyService: databaseWriter.denyService,
  lockOut: databaseWriter.lockOut,
}

export const proxy: Row = {
  runProgram: possible(
    `${onlyPolled} The proxy sees the passwords of polled hosts if a worker connects through it.`,
    polledAccounts,
    ['agentReleaseKey'],
  ),
  freeHost: possible(
    'The proxy sees the passwords and sessions of people, so it can act as each of them. As one person, it stays within the limit; once two Administrators have signed in through it, it can also approve. It cannot sign or change commands and policies.',
    'Terminate TLS on machines you trust only, or pass TCP through. End all sessions, change all passwords on a connection without the proxy, and review the audit trail.',
    ['approverForFree', 'commandSignature', 'signedRevocation', 'auditWithChange'],
  ),
  allowDevice: possible('The same as for freeing hosts.', 'The same as for freeing hosts.', [
    'approverForRules',
    'policySignature',
    'auditWithChange',
  ]),
  readSecret: possible(
    'The proxy sees secrets that people type, and the passwords of polled hosts that a worker receives through it. The server sends no other stored secret.',
    'Let workers connect to the server itself. Change the passwords of polled hosts and those that people typed.',
    ['maskedSecrets', 'noKeysOverHttp'],
  ),
  impersonateHost: possible(
    'The proxy sees the session tokens of hosts and can report in their names until the tokens expire (one hour).',
    'Terminate TLS on machines you trust only, or pass TCP through. Hosts whose token pins the server refuse such a proxy.',
  ),
  forgeEvent: possible('The proxy can change reports in transit.', 'The same as for impersonating a host.'),
  forgeTrail: refused(['appendOnlyTrail']),
  denyService: possible(
    'The proxy can refuse all traffic. Hosts keep enforcing their last signed policy.',
    'Replace the proxy.',
  ),
  lockOut: possible('The proxy can refuse all traffic.', 'Sign in on the server itself.'),
}

export const serverRoot: Row = {
  runProgram: possible(
    `${onlyPolled} Root can decrypt the passwords and keys of polled hosts. The private release key is not on the server.`,
    polledAccounts,
    ['agentReleaseKey'],
  ),
  freeHost: possible(
    'Root can use the command key and free every connected host.',
    'Rebuild the server from a trusted source, rotate the command key, restore a backup, and arm the hosts again.',
  ),
  allowDevice: possible(
    'Root can write rules with valid seals.',
    'Rebuild the server, and compare the rules with a backup.',
  ),
  readSecret: possible('Root can decrypt every stored secret.', 'Change every stored password at its source.'),
  impersonateHost: possible('Root can create sessions of hosts.', 'Rebuild the server, and enrol the hosts again.'),
  forgeEvent: possible('Root can change events.', 'Compare with the SIEM.'),
  forgeTrail: detected(['checkpointCopies'], 'Only if copies of the checkpoints are kept on another machine.'),
  denyService: possible(
    'Root can stop the server. Hosts keep enforcing their last signed policy.',
    'Rebuild the server and restore a backup.',
  ),
  lockOut: possible('Root can change every account.', 'Rebuild the server and restore a backup.'),
}
