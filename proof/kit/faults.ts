/**
 * Loaded into the server before the product (`--import`): makes database statements, handlers and hooks throw. The
 * header `x-proof-fault` of a request names where: `hook`, `handler`, `late` (after the handler finished), `thread` (a
 * worker thread of the request ends), or the number of a statement. Statements outside requests throw at random,
 * with the share in PROOF_FAULTS_FILE.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isMainThread, Worker } from 'node:worker_threads'
import pg from 'pg'
import { faultHeader, faultText, thrownHeader } from './fault-control.ts'
import { seededRandom } from './seeded-random.ts'

interface Course {
  where: string
  statements: number
  isThrown: boolean
  response: ServerResponse
}

type Step = (this: unknown, request: { raw: IncomingMessage }, reply: { raw: ServerResponse }) => unknown
interface Route {
  handler: Step
  onRequest?: Step
}
interface Fastify {
  addHook(name: 'onRoute', hook: (route: Route) => void): void
}

const file = process.env.PROOF_FAULTS_FILE
const everyMs = 50

const load = (file: string): void => {
  const courses = new AsyncLocalStorage<Course>()
  const byRequest = new WeakMap<IncomingMessage, Course>()
  const counts = { inRequests: 0, outside: 0 }
  let share = 0
  let last = ''
  setInterval(() => {
    share = Number(readFileSync(file, 'utf8')) || 0
    const text = JSON.stringify(counts)
    if (text === last) return
    last = text
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, `${file}.told`)
  }, everyMs).unref()

  const thrown = (course: Course): Error => {
    course.isThrown = true
    counts.inRequests += 1
    if (!course.response.headersSent) course.response.setHeader(thrownHeader, '1')
    return new Error(faultText)
  }
  const trip = (where: string): void => {
    const course = courses.getStore()
    if (course !== undefined && course.where === where && !course.isThrown) throw thrown(course)
  }

  const courseOf = (request: IncomingMessage, response: ServerResponse): Course => {
    const known = byRequest.get(request)
    if (known !== undefined) return known
    const where = String(request.headers[faultHeader] ?? '')
    const course = { where, statements: 0, isThrown: false, response }
    byRequest.set(request, course)
    return course
  }
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: Fastify }
    fastify.addHook('onRoute', (route) => {
      const { handler, onRequest } = route
      route.handler = function (request, reply) {
        return courses.run(courseOf(request.raw, reply.raw), async () => {
          trip('handler')
          const answer = await handler.call(this, request, reply)
          trip('late')
          return answer
        })
      }
      if (onRequest === undefined) return
      // Both parameters are needed, because Fastify counts them.
      route.onRequest = function (request, reply) {
        return courses.run(courseOf(request.raw, reply.raw), async () => {
          await onRequest.call(this, request, reply)
          trip('hook')
        })
      }
    })
  })

  const post = Worker.prototype.postMessage
  Worker.prototype.postMessage = function (...given) {
    const course = courses.getStore()
    if (course?.where === 'thread' && !course.isThrown) {
      thrown(course)
      void this.terminate()
    }
    post.apply(this, given)
  }

  /** Returns true if this statement throws. */
  const isDue = (): boolean => {
    const course = courses.getStore()
    if (course === undefined) {
      if (seededRandom('faults') >= share) return false
      counts.outside += 1
      return true
    }
    course.statements += 1
    if (course.isThrown || course.where !== String(course.statements)) return false
    thrown(course)
    return true
  }

  // Bind the callback to the context of the waiting caller, not to that of the caller that released the connection.
  type Connect = (this: pg.Pool, ...given: unknown[]) => unknown
  const connect = pg.Pool.prototype.connect as unknown as Connect
  const bound: Connect = function (...given) {
    return connect.apply(
      this,
      given.map((one) => (typeof one === 'function' ? AsyncResource.bind(one as () => void) : one)),
    )
  }
  pg.Pool.prototype.connect = bound as never

  type Callback = (error: unknown, result?: unknown) => void
  type Query = (this: pg.Client, ...given: unknown[]) => unknown
  const query = pg.Client.prototype.query as unknown as Query
  let turn = 0
  const faulty: Query = function (...given) {
    if (!isDue()) return query.apply(this, given)
    const fault = new Error(faultText)
    // Streams such as COPY have a `submit` method.
    if (typeof (given[0] as { submit?: unknown } | null)?.submit === 'function') throw fault
    // Every second statement runs, and then its success is lost.
    const isDone = turn++ % 2 === 1
    const at = given.findIndex((one) => typeof one === 'function')
    if (at < 0)
      return isDone
        ? (query.apply(this, given) as Promise<unknown>).then(() => {
            throw fault
          })
        : Promise.reject(fault)
    const callback = given[at] as Callback
    if (isDone)
      return query.apply(
        this,
        given.with(at, (error: unknown) => callback(error ?? fault)),
      )
    process.nextTick(callback, fault)
    return undefined
  }
  pg.Client.prototype.query = faulty as never
}

if (file !== undefined && isMainThread) load(file)
