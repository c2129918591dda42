import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'

const prefix = '/prime/webui'

interface Session {
  alive: boolean
  refreshToken: string
  usedRefreshTokens: string[]
}
interface Access {
  token: string
  session: Session
  version: number
}

const steps = [
  'login',
  'refresh',
  'reuse',
  'logout',
  'disable',
  'enable',
  'promote',
  'demote',
  'rename',
  'setPassword',
  'ownPassword',
  'recreate',
] as const
type Step = (typeof steps)[number]

let a: TestApp
let b: TestApp
beforeAll(async () => {
  a = await startTestApp()
  b = await startTestApp({ database: a.database, clock: a.clock, keyDir: a.keyDir })
})
afterAll(async () => {
  await b.close()
  await a.close()
})

let accounts = 0

/** Creates an account and a model of what its tokens allow, on two replicas. */
const createWorld = async () => {
  const admin = await a.admin()
  const userName = `model-${accounts++}`
  let passwords = 0
  let password = ''
  let profile = 30
  let enabled = true
  let version = 0
  const sessions: Session[] = []
  const access: Access[] = []

  const expectOk = (answer: { statusCode: number; body: string }) =>
    expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)])
  const nextPassword = () => `${userName} password ${passwords++}`
  const endAll = (except?: Session) => {
    for (const session of sessions) if (session !== except) session.alive = false
  }
  const update = async (change: object) =>
    expectOk(await admin.post(`${prefix}/admin/updateuser`, { userName, ...change }))
  const make = async () => {
    password = nextPassword()
    expectOk(await admin.post(`${prefix}/admin/adduser`, { userName, userProfile: profile, password }))
  }
  /** Returns an access token that works, if there is one. */
  const working = () => access.find((one) => enabled && one.session.alive && one.version === version)

  const setProfile = async (wanted: number) => {
    await update({ userProfile: wanted })
    if (wanted !== profile) version++
    profile = wanted
  }
  const refreshWith = (refreshToken: string) => b.as(undefined).post(`${prefix}/Auth/RefreshToken`, { refreshToken })

  const run: Record<Step, () => Promise<void>> = {
    login: async () => {
      const answer = await a.as(undefined).post(`${prefix}/Auth/LocalLogin`, { username: userName, password })
      expect(answer.statusCode).toBe(enabled ? 200 : 401)
      if (!enabled) return
      const session = { alive: true, refreshToken: answer.json().refreshToken, usedRefreshTokens: [] }
      sessions.push(session)
      access.push({ token: answer.json().token, session, version })
    },
    refresh: async () => {
      const session = sessions.at(-1)
      if (session === undefined) return
      const answer = await refreshWith(session.refreshToken)
      expect(answer.statusCode).toBe(session.alive ? 200 : 401)
      if (!session.alive) return
      session.usedRefreshTokens.push(session.refreshToken)
      session.refreshToken = answer.json().refreshToken
      access.push({ token: answer.json().token, session, version })
    },
    reuse: async () => {
      const session = sessions.find((one) => one.usedRefreshTokens.length > 0)
      if (session === undefined) return
      expect((await refreshWith(session.usedRefreshTokens[0] as string)).statusCode).toBe(401)
      session.alive = false
    },
    logout: async () => {
      const one = working()
      if (one === undefined) return
      expectOk(await a.as(one.token).post(`${prefix}/Auth/Logout`))
      one.session.alive = false
    },
    disable: async () => {
      await update({ isEnabled: false })
      if (enabled) version++
      enabled = false
      endAll()
    },
    enable: async () => {
      await update({ isEnabled: true })
      enabled = true
    },
    promote: () => setProfile(20),
    demote: () => setProfile(30),
    rename: () => update({ firstName: `n${accounts}${passwords}` }),
    setPassword: async () => {
      password = nextPassword()
      await update({ password })
      version++
      endAll()
    },
    ownPassword: async () => {
      const one = working()
      if (one === undefined) return
      const newPassword = nextPassword()
      expectOk(await a.as(one.token).post(`${prefix}/admin/updateuserdetails`, { oldPassword: password, newPassword }))
      password = newPassword
      version++
      endAll(one.session)
    },
    recreate: async () => {
      expectOk(await admin.post(`${prefix}/admin/deleteUsers`, [userName]))
      endAll()
      enabled = true
      await make()
    },
  }

  const check = async (step: Step): Promise<void> => {
    const startedAt = performance.now()
    for (const one of access) {
      const wanted = enabled && one.session.alive && one.version === version ? 200 : 401
      const here = (await a.as(one.token).get(`${prefix}/admin/getuserdetails`)).statusCode
      // Changes on the other replica arrive as messages.
      for (const app of [a, b]) {
        let status = app === a ? here : 0
        while (status !== wanted && performance.now() - startedAt < 1_000)
          status = (await app.as(one.token).get(`${prefix}/admin/getuserdetails`)).statusCode
        expect([step, status]).toEqual([step, wanted])
      }
    }
  }

  await make()
  return { run, check }
}

it('a token is valid exactly while its session and account are, after any sequence of changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Step>('login', ...steps), { minLength: 4, maxLength: 14 }),
      async (order) => {
        const world = await createWorld()
        for (const step of order) {
          await world.run[step]()
          await world.check(step)
        }
      },
    ),
    { numRuns: 25 },
  )
})
