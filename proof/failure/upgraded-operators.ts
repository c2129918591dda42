import type { ServerProcess } from '../kit/server.ts'
import { adminPassword } from '../kit/server.ts'
import { atLeast, atMost, type Finding } from '../kit/verdict.ts'
import { createWire } from '../kit/wire.ts'

const password = 'a password of an older release'
const rules = [
  { effect: 'deny', vid: '16C0', pid: '27DB', reason: 'before the upgrade' },
  { effect: 'allow', vid: '046D', pid: 'C31C', reason: 'before the upgrade' },
] as const
const tokenAges = { never: null, soon: () => new Date(Date.now() + 20 * 86_400_000).toISOString() }

type Named = { userName?: string; name?: string; sentence?: string }

const itemsOf = async (server: ServerProcess, path: string, token: string): Promise<Named[]> => {
  const answer = (await server.call(path, undefined, token)) as unknown
  return (Array.isArray(answer) ? answer : (answer as { data: Named[] }).data) as Named[]
}

const stateOf = async (server: ServerProcess, token: string) => {
  const names = async (path: string, name: (one: Named) => string | undefined) =>
    (await itemsOf(server, path, token)).map((one) => String(name(one))).sort()
  return {
    accounts: await names('/prime/webui/admin/all', ({ userName }) => userName),
    tokens: await names('/prime/webui/admin/apiTokens', ({ name }) => name),
    rules: await names('/prime/webui/policy/rules?PageSize=100', ({ sentence }) => sentence),
  }
}

/** Creates accounts, API tokens and rules on the older release, and returns them with a working token of each age. */
export const createOperators = async (server: ServerProcess) => {
  const admin = await server.signIn()
  for (const [userName, userProfile] of [
    ['second', 10],
    ['manager', 20],
    ['viewer', 30],
  ] as const)
    await server.call(
      '/prime/webui/admin/adduser',
      { userName, userProfile, password, mustChangePassword: false },
      admin,
    )
  const tokens: Record<string, string> = {}
  for (const [name, expiresAt] of Object.entries(tokenAges)) {
    const body = { name, expiresAt: expiresAt === null ? null : expiresAt(), userProfile: 10 }
    tokens[name] = String((await server.call('/prime/webui/admin/apiTokens', body, admin)).token)
  }
  for (const rule of rules) await server.call('/prime/webui/policy/rules', rule, admin)
  return { tokens, before: await stateOf(server, admin) }
}

/** Compares the state on the new release with the created one, and tries operations with the old tokens. */
export const checkOperators = async (
  server: ServerProcess,
  { tokens, before }: Awaited<ReturnType<typeof createOperators>>,
): Promise<Finding[]> => {
  const admin = await server.signIn()
  const after = await stateOf(server, admin)
  const lost = (kind: keyof typeof before) => before[kind].filter((name) => !after[kind].includes(name)).length
  const listed = (await server.call('/prime/webui/admin/apiTokens', undefined, admin)) as unknown as {
    name: string
    isLegacy: boolean
    expiresAt: string
  }[]
  const limited = listed.filter(
    ({ name, isLegacy, expiresAt }) =>
      name in tokens && isLegacy && Date.parse(expiresAt) <= Date.now() + 90 * 86_400_000 + 60_000,
  ).length
  let working = 0
  let refused = 0
  const wire = createWire(server.url)
  for (const token of Object.values(tokens)) {
    const read = await wire.send({ method: 'GET', path: '/prime/webui/agents?PageSize=1', token })
    if (read.status === 200) working++
    const body = { userName: `by-${refused}`, userProfile: 10, password: adminPassword }
    const made = await wire.send({ method: 'POST', path: '/prime/webui/admin/adduser', token, body })
    if (made.status === 403) refused++
  }
  wire.close()
  const signIns = await Promise.all(
    ['second', 'manager', 'viewer'].map((userName) =>
      server.call('/prime/webui/Auth/LocalLogin', { userName, password }).then(
        () => 1,
        () => 0,
      ),
    ),
  )
  return [
    atMost('accounts lost', lost('accounts'), 0),
    atMost('rules lost', lost('rules'), 0),
    atLeast('rules kept', after.rules.length, rules.length),
    atMost('API tokens lost', lost('tokens'), 0),
    atLeast('API tokens marked, with an expiry date', limited, Object.keys(tokens).length),
    atLeast('API tokens that still read', working, Object.keys(tokens).length),
    atLeast('API tokens refused by an operation that needs fresh authentication', refused, 2),
    atLeast(
      'accounts that sign in',
      signIns.reduce((sum: number, one) => sum + one, 0),
      3,
    ),
  ]
}
