import { randomBytes } from 'node:crypto'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { amount, atLeast, atMost, type Check, figure, median, type Outcome, relative, round } from '../kit/verdict.ts'
import { forEachOf, type HttpResponse, jsonOf } from '../kit/wire.ts'

/** Returns a different address of the benchmarking networks (RFC 2544) for each number. */
const addressOf = (n: number): string => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`

const guess = ({ wire }: Environment, userName: string, password: string, from: string): Promise<HttpResponse> =>
  wire.send({
    method: 'POST',
    path: `${api}/Auth/LocalLogin`,
    body: { userName, password },
    headers: { 'x-forwarded-for': from },
  })

/** Returns how far two samples differ, in standard deviations (Mann-Whitney). */
const apart = (a: readonly number[], b: readonly number[]): number => {
  const ranked = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))].sort(
    (x, y) => x.value - y.value,
  )
  const rankSum = ranked.reduce((sum, { isA }, i) => sum + (isA ? i + 1 : 0), 0)
  const u = rankSum - (a.length * (a.length + 1)) / 2
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12)
  return Math.abs(u - (a.length * b.length) / 2) / deviation
}

/** Checks that no response reveals whether an account exists. */
export const signIn: Check = {
  name: 'sign-in',
  what: 'Guesses passwords of accounts that exist and of others, in turns and from many addresses. Neither the time nor the text of a response reveals which accounts exist.',
  run: ({ root, isQuick }): Promise<Outcome> =>
    // The gate acts as a trusted proxy, so each guess can come from a different address.
    withEnvironment({ root, env: { PORTCULLIS_TRUSTED_PROXIES: '127.0.0.1' } }, async (environment) => {
      // Few guesses per account, so that no limit applies. Known and unknown accounts alternate.
      const accounts = isQuick ? 25 : 250
      const perAccount = isQuick ? 4 : 8
      const names = Array.from({ length: accounts }, () => `known-${randomBytes(6).toString('hex')}`)
      await forEachOf(names, 2, async (userName) => {
        await environment.call(
          'POST',
          `${api}/admin/adduser`,
          { userName, userProfile: 30, password: `the password of ${userName}` },
          environment.admin.token,
        )
      })
      const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
      const texts = new Set<string>()
      let at = 100_000
      for (let turn = 0; turn < perAccount; turn++)
        for (const name of names)
          for (const [kind, userName] of [
            ['known', name],
            ['unknown', name.replace('known', 'nobod')],
          ] as const) {
            const startedAt = performance.now()
            const got = await guess(environment, userName, 'not the password of it', addressOf(at++))
            times[kind].push(performance.now() - startedAt)
            texts.add(`${got.status} ${JSON.stringify({ ...(jsonOf(got.text) as object), traceId: '' })}`)
          }
      const [known, unknown] = [median(times.known), median(times.unknown)]
      return {
        findings: [
          atMost('texts of refusals', texts.size, 1),
          atLeast(
            amount(isQuick, 'sign-ins timed'),
            times.known.length + times.unknown.length,
            accounts * perAccount * 2,
          ),
          figure('known account', round(known), 'ms'),
          figure('unknown account', round(unknown), 'ms'),
          // The medians are about 40 ms. On a busy machine they vary by more than the desired 1 ms.
          relative(
            atMost('difference of the medians', round(Math.abs(known - unknown)), Math.max(1, known * 0.05), 'ms'),
          ),
          atMost('apart', round(apart(times.known, times.unknown)), 3.3, 'σ'),
        ],
        notes: texts.size === 1 ? [] : [...texts],
      }
    }),
}
