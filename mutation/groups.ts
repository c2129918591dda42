/** The parts of the product in which tests must detect Stryker's mutants. */
export interface Group {
  name: string
  mutate: string[]
  /**
   * Tests that must detect the mutants. They run once per mutant, so they use no database and take few milliseconds.
   */
  tests: string[]
}

/** Smallest share of mutants that the tests must detect. */
export const leastKilled = 0.85

export const groups: readonly Group[] = [
  {
    name: 'policy',
    mutate: ['domain/src/policy.ts', 'domain/src/approval-gate.ts'],
    // Without approval-gate.test.ts, which explores all states and takes seconds.
    tests: ['domain/test/policy*.test.ts', 'domain/test/approval-gate.decisions.test.ts'],
  },
  {
    name: 'risk',
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
    // Only the code that decides about devices and blocks them. The rest works with the kernel, files and the server.
    mutate: ['agent/src/enforcement/{pass,judge,recent,holds,truth,defaults}.ts'],
    // Without the tests of a whole agent, which wait seconds for check-ins for each mutant.
    tests: ['agent/test/{pass,judgement,recent,held-ports,defaults}.test.ts'],
  },
  {
    name: 'spool',
    mutate: ['agent/src/spool.ts'],
    // Without full-disk, whose spools run in child processes where no mutant is active.
    tests: ['agent/test/{spool,power-loss}.test.ts'],
  },
]
