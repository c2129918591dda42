import { randomBytes } from 'node:crypto'
import type { TestApp } from './app.ts'

export interface PersonOptions {
  profile?: 10 | 20 | 30
  userName?: string
  mustChangePassword?: boolean
}

/** Creates an account through the API and signs in. */
export const person = async (t: TestApp, options: PersonOptions = {}) => {
  const userName = options.userName ?? `user-${randomBytes(4).toString('hex')}`
  const password = `pw ${randomBytes(9).toString('hex')}`
  const made = await (await t.admin()).post('/prime/webui/admin/adduser', {
    userName,
    userProfile: options.profile ?? 30,
    password,
    ...(options.mustChangePassword === undefined ? {} : { mustChangePassword: options.mustChangePassword }),
  })
  if (made.statusCode !== 200) throw new Error(`adduser ${userName}: ${made.statusCode} ${made.body}`)
  const token = await t.signIn(userName, password)
  return { userName, password, token, api: t.as(token) }
}

export type Person = Awaited<ReturnType<typeof person>>
