import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { toAppError } from './problem.ts'

it('a client that disconnects while sending does not count as a server failure', async () => {
  const server = http.createServer((request) => request.on('error', (error) => server.emit('seen', error)).resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1', () => {
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx')
  })
  await once(server, 'request')
  socket.destroy()
  const [error] = await once(server, 'seen')
  expect(toAppError(error).status).toBe(400)
  // A lost database connection has the same code.
  expect(toAppError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })).status).toBe(503)
  server.close()
})
