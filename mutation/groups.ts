/** The parts of the product in which every mutant that Stryker can think of must be noticed. */
export interface Group {
  name: string
  /** Files that are mutated. */
  mutate: string[]
  /** Tests that must notice. They run once per mutant, so they need no database and few milliseconds. */
  tests: string[]
}

/** Least share of mutants that the tests must notice. */
export const leastKilled = 0.85

export const groups: readonly Group[] = [
  {
    name: 'policy',
    mutate: ['domain/src/policy.ts', 'domain/src/approval-gate.ts'],
    // Not approval-gate.test.ts: it explores all states for seconds.
    tests: ['domain/test/policy*.test.ts', 'domain/test/approval-gate.decisions.test.ts'],
  },
  {
    name: 'risk',
    mutate: [
      'domain/src/risk.ts',
      'domain/src/attack-tools.ts',
      'domain/src/behaviour.ts',
      'domain/src/hobby-stack.ts',
      'domain/src/genuine.ts',
      'domain/src/verdict-key.ts',
      'domain/src/vulnerabilities.ts',
    ],
    // Not the tests on the shipped knowledge: they read 20,000 names first.
    tests: ['domain/test/{risk,severity,assessment,behaviour}.test.ts'],
  },
  {
    name: 'seals',
    mutate: [
      'domain/src/audit-chain.ts',
      'domain/src/audit-verify.ts',
      'domain/src/audit-checkpoint.ts',
      'server/src/features/devices/policy/seal.ts',
      'server/src/features/devices/knowledge/knowledge.seal.ts',
    ],
    tests: [
      'domain/test/audit-*.test.ts',
      'server/src/features/devices/policy/seal.mac.test.ts',
      'server/src/features/devices/knowledge/knowledge.seal.test.ts',
    ],
  },
  {
    name: 'enforcement',
    // What decides and acts on a device. The rest talks to the kernel, to files and to the server.
    mutate: ['agent/src/enforcement/{pass,judge,recent,holds,truth,defaults}.ts'],
    // Not the tests of a whole agent: they wait for check-ins, seconds for each mutant.
    tests: ['agent/test/{pass,judgement,recent,held-ports,defaults}.test.ts'],
  },
  {
    name: 'spool',
    mutate: ['agent/src/spool.ts'],
    // Not full-disk: its spools live in child processes, in which no mutant is active.
    tests: ['agent/test/{spool,power-loss}.test.ts'],
  },
]
