/**
 * The parts of the product in which tests must detect at least 90 % of Stryker's mutants. `mutate` lists the files that
 * decide, `tests` what must detect the mutants. The tests run once per mutant, so those with whole agents, which wait
 * for check-ins, are left out.
 */
export const groups = {
  policy: {
    mutate: ['domain/src/policy.ts', 'domain/src/change-gate.ts'],
    // Without change-gate.test.ts, which explores all states and takes seconds.
    tests: ['domain/test/{policy*,serial}.test.ts', 'domain/test/change-gate.decisions.test.ts'],
  },
  risk: {
    mutate: [
      'domain/src/risk.ts',
      'domain/src/attack-tools.ts',
      'domain/src/behaviour.ts',
      'domain/src/class-sets.ts',
      'domain/src/typing.ts',
      'domain/src/verdict-key.ts',
      'domain/src/vulnerabilities.ts',
    ],
    // Without the tests on the shipped knowledge, which read 20,000 names first.
    tests: ['domain/test/{risk,severity,assessment,behaviour,typing}.test.ts'],
  },
  seals: {
    mutate: [
      'domain/src/audit-chain.ts',
      'domain/src/audit-verify.ts',
      'domain/src/audit-checkpoint.ts',
      'features/policy/server/seal.ts',
      'features/knowledge/server/seal.ts',
    ],
    tests: [
      'domain/test/audit-*.test.ts',
      'features/policy/server/seal.mac.test.ts',
      'features/knowledge/server/seal.test.ts',
    ],
  },
  enforcement: {
    mutate: ['agent/src/enforcement/{pass,evaluator,recent,holds,driver-check,defaults}.ts'],
    tests: ['agent/test/{pass,evaluator,recent,held-ports,defaults}.test.ts'],
  },
  spool: {
    mutate: ['agent/src/spool.ts', 'agent/src/spool-changes.ts'],
    // Without spool-identities, which takes seconds, and full-disk, whose spools run in child processes where no mutant
    // is active.
    tests: ['agent/test/{spool,power-loss}.test.ts'],
  },
  commands: {
    mutate: [
      'domain/src/command-key.ts',
      'agent/src/{command-keys,commands,parse-command}.ts',
      'agent/src/host-time.ts',
    ],
    tests: [
      'domain/test/command-key.test.ts',
      'agent/test/{command-keys,commands,parse-command,host-time.clock}.test.ts',
    ],
  },
  packages: {
    mutate: [
      'domain/src/{agent-package,release-keys}.ts',
      'agent/src/update/{fetch-build,release-key,version}.ts',
      'features/builds/server/{package-file,release-key}.ts',
    ],
    tests: [
      'domain/test/{agent-package,release-keys}.test.ts',
      'agent/test/fetch-build.test.ts',
      'features/builds/server/package-file.test.ts',
    ],
  },
  ingest: {
    mutate: ['features/ingest/server/{apply-report,collect-report,report-events}.ts', 'domain/src/occurrence.ts'],
    tests: [
      'features/ingest/server/{apply-report,collect-report,report-events}.test.ts',
      'domain/test/occurrence.test.ts',
    ],
  },
  accounts: {
    mutate: [
      'features/identity/server/accounts/{access-tokens,accounts.rules,changes,fresh}.ts',
      'features/identity/server/accounts/{signin.limits,suspension.rules,token-expiry.rules}.ts',
    ],
    tests: ['features/identity/server/accounts/accounts.rules.test.ts'],
  },
  'sign-in': {
    mutate: ['features/identity/server/accounts/{reauthentication,second-factor,signin}.service.ts'],
    tests: [
      'features/identity/server/accounts/{mfa,reauthentication,second-factor,signin,signin.flood,suspension}.test.ts',
    ],
    needsDatabase: true,
  },
  approvals: {
    mutate: ['features/change-requests/server/{change-requests.service,seal,shown-change,sign-in-settings}.ts'],
    // Without random-sequences.test.ts, which takes seconds.
    tests: [
      'features/change-requests/server/{bypasses,links-and-settings,request-details,request-seal}.test.ts',
      'features/change-requests/server/{second-approver,settings-and-races,shown-changes}.test.ts',
    ],
    needsDatabase: true,
  },
}
