/** Loaded into the server by NODE_OPTIONS: writes down every route that is registered, whoever registers it. */
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'

const file = process.env.GATE_ROUTES_FILE
if (file !== undefined)
  subscribe('fastify.initialization', ({ fastify }) => {
    fastify.addHook('onRoute', ({ method, url }) => {
      appendFileSync(file, `${JSON.stringify({ methods: [method].flat(), url })}\n`)
    })
  })
